import java.util.List;
import leasehold.Leasehold;

/**
 * A worker: java Work [URL of the coordinator]. It ends at SIGTERM or Ctrl-C, after its handlers.
 *
 * <p>The task report comes from a schedule: leasehold schedule add nightly report --cron '30 3 * * *' --zone Europe/Berlin
 */
public final class Work {
    public static void main(String[] args) throws InterruptedException {
        var client = args.length > 0 ? new Leasehold(args[0]) : new Leasehold();
        // No worker can count what is no text: such a task is dead at once.
        Leasehold.Worker.builder(client).concurrency(4).giveUp(ClassCastException.class)
            .handle("count", task -> ((String) task.data().get("text")).trim().split("\\s+").length)
            .handle("report", Work::report)
            .build().run();
    }

    private static Object report(Leasehold.Task task) {
        task.extend(0.5, "halfway"); // progress; starts the timeout again
        var tags = (List<?>) task.fields.get("tags");
        return "done for " + tags.get(tags.size() - 1); // due:TIME
    }
}
