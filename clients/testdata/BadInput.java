import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import leasehold.Leasehold;

/** Two workers in one process, whose handlers behave badly. BadInput URL ACTION */
final class BadInput {
    public static void main(String[] args) throws Exception {
        var client = new Leasehold(args[0]);
        for (var end : List.of("-one", "-two")) {
            var worker = Leasehold.Worker.builder(client).handle(args[1] + end, BadInput::handle).concurrency(2).ttl(1).drain(Duration.ofMillis(100)).build();
            if (end.equals("-two")) {
                worker.run();
            } else {
                new Thread(() -> {
                    try {
                        worker.run();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }).start();
            }
        }
    }

    private static Object handle(Leasehold.Task task) throws Exception {
        var what = (String) task.data().get("do");
        task.log(what + " in " + task.action());
        switch (what) {
            case "function":
                return (Runnable) () -> { };
            case "nan":
                return Map.of("a", Double.NaN);
            case "cycle":
                var cycle = new ArrayList<Object>();
                cycle.add(cycle);
                return cycle;
            case "bytes":
                return new byte[1];
            case "hang": // it does not even look at task.stopped
                while (true) {
                    try {
                        Thread.sleep(3_600_000);
                    } catch (InterruptedException e) {
                        // it goes on
                    }
                }
            case "exit":
                Runtime.getRuntime().halt(3);
                return null;
            case "fork":
                return new ProcessBuilder("true").start().waitFor();
            default:
                return what;
        }
    }
}
