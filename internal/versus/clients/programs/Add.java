import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import leasehold.Leasehold;

/** Creates tasks that add 1, or does them: see counted.py. */
public final class Add {
    public static void main(String[] args) throws InterruptedException {
        var client = new Leasehold(args[1]);
        int number = Integer.parseInt(args[2]);
        switch (args[0]) {
            case "create":
                for (int n = 0; n < number; n += 500) {
                    client.createAll(IntStream.range(n, Math.min(number, n + 500)).mapToObj(i -> Map.of("action", "add", "data", Map.of("n", i))).toList());
                }
                break;
            case "slowly":
                for (int n = 0; n < number; n++) {
                    Thread.sleep(50);
                    client.create("add", Map.of("n", now()));
                }
                break;
            default:
                work(client, number, Integer.parseInt(args[3]));
        }
    }

    private static double now() { return ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()) / 1000.0; }

    private static void work(Leasehold client, int handlers, int total) throws InterruptedException {
        AtomicInteger begun = new AtomicInteger(), ended = new AtomicInteger();
        Leasehold.Worker.builder(client).concurrency(handlers).handle("add", task -> {
            var n = ((Number) task.data().get("n")).doubleValue();
            if (total == 0) {
                System.out.println("latency " + (now() - n));
                return null;
            }
            if (begun.incrementAndGet() == 1) System.out.println("first");
            if (ended.incrementAndGet() == total) System.out.println("last");
            return (long) n + 1;
        }).build().run();
    }
}
