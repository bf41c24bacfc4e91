import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import leasehold.Leasehold;

/** Workers that stop while they are busy: whenever that is, run returns and no thread of theirs fails. Stopping URL ACTION ROUNDS */
final class Stopping {
    public static void main(String[] args) throws Exception {
        var client = new Leasehold(args[0]);
        var failed = new AtomicReference<Throwable>();
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> failed.compareAndSet(null, e));
        for (int n = 0; n < 100; n++) client.create(args[1], Map.of("n", n));
        for (int round = Integer.parseInt(args[2]); round > 0 && failed.get() == null; round--) {
            var worker = Leasehold.Worker.builder(client).handle(args[1], task -> { throw new Leasehold.HandBack(0); }).concurrency(4).build();
            var thread = new Thread(() -> {
                try {
                    worker.run();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            thread.start();
            Thread.sleep(new Random().nextInt(60));
            worker.stop();
            thread.join();
        }
        if (failed.get() != null) {
            failed.get().printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }
}
