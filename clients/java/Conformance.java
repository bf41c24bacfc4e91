import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;

/**
 * What every client must do, in Java. clients/conformance_test.go runs it and describes it.
 *
 * <pre>
 * java Conformance URL ACTION         calls each verb, and prints the steps that passed
 * java Conformance URL ACTION worker [SLOTS]  works until SIGTERM, as the tasks' data demand
 * java Conformance URL ACTION refused OTHER  is refused by a coordinator that authenticates, and does not
 *                                            send a request to OTHER, whose certificate is of another CA
 * java Conformance "" ACTION coordinator  starts a coordinator and ends it
 * java Conformance URL ACTION restart calls verbs once a line comes, while the coordinator is away
 * </pre>
 */
public final class Conformance {
    private static final Map<String, Object> DATA = Map.of("n", 1L, "text", "é \"\n\ud83e\udd80", "list", Arrays.asList(1.5, null, true));
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    public static void main(String[] args) throws InterruptedException, IOException {
        if (args.length > 2 && args[2].equals("coordinator")) {
            try (var coordinator = Leasehold.TestCoordinator.start()) {
                System.out.println(coordinator.client().create("a", null).state());
            }
            return;
        }
        var client = new Leasehold(args[0]);
        if (args.length > 2 && args[2].equals("restart")) {
            restart(client, args[1]);
        } else if (args.length > 2 && args[2].equals("refused")) {
            unauthorized(args[0], args[3]);
        } else if (args.length > 2) {
            int slots = args.length > 3 ? Integer.parseInt(args[3]) : 2;
            Leasehold.Worker.builder(client).handle(args[1], Conformance::handle).concurrency(slots).name(args[1]).ttl(1).drain(Duration.ofSeconds(1))
                .giveUp(ArithmeticException.class).retry(IllegalStateException.class, 0).build().run();
        } else {
            verbs(client, new Leasehold(args[0], System.getenv("ADMIN_TOKEN"), null), args[1]);
        }
    }

    private static void restart(Leasehold client, String action) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in));
        var first = client.create(action, null).id();
        var second = client.create(action, null).id();
        System.out.println("ready");
        lines.readLine();
        client.create(action, null, Map.of(), action + "-restart");
        client.cancel(first, "");
        same("waiting", client.get(second).state());
        same("cancelled", client.await(first, null).state());
        System.out.println("restarted");
        lines.readLine();
        try {
            throw new AssertionError(new Leasehold("http://127.0.0.1:1").create(action, null));
        } catch (Leasehold.Unavailable e) {
            if (e.happened != Boolean.FALSE || !e.getMessage().contains("did not happen")) throw e;
        }
        System.out.println("told");
    }

    private static void unauthorized(String url, String other) {
        var wrong = new Leasehold(url, "lht-wrong", null);
        same(true, refused(Leasehold.Unauthenticated.class, 401, () -> wrong.create("a", null)).detail.contains("not known"));
        refused(Leasehold.Forbidden.class, 403, () -> new Leasehold(url).requeue("t1"));
        refused(Leasehold.Unauthenticated.class, 0, () -> new Leasehold(other).create("a", null));
        for (var make : List.<Runnable>of(() -> new Leasehold("http://192.0.2.1:7412", "t", null), () -> new Leasehold(url, null, "no-such-file.pem"))) {
            try {
                make.run();
            } catch (IllegalArgumentException e) {
                continue;
            }
            throw new AssertionError("want an IllegalArgumentException");
        }
        System.out.println("refused");
    }

    private static void same(Object want, Object got) {
        if (!Objects.equals(want, got)) throw new AssertionError("want " + want + ", got " + got);
    }

    private static Leasehold.Failure refused(Class<? extends Leasehold.Failure> kind, int status, Runnable call) {
        try {
            call.run();
        } catch (Leasehold.Failure e) {
            same(kind, e.getClass());
            same(status, e.status);
            if (e.code.isEmpty() || e.title.isEmpty() || e.detail.isEmpty()) throw new AssertionError(e);
            return e;
        }
        throw new AssertionError("want " + kind);
    }

    private static void verbs(Leasehold client, Leasehold admin, String action) {
        var made = client.create(action, DATA, Map.of("priority", 5, "tags", List.of("a")), null);
        var shown = client.get(made.id());
        same(List.of("waiting", DATA, 5L), List.of(shown.state(), shown.data(), shown.priority()));
        System.out.println("create");

        var keyed = client.create(action, null, Map.of(), action + "-key");
        same(keyed.id(), client.create(action, null, Map.of(), action + "-key").id());
        refused(Leasehold.KeyReused.class, 409, () -> client.create(action, 1, Map.of(), action + "-key"));
        System.out.println("key");

        refused(Leasehold.NotFound.class, 404, () -> client.get("t999999"));
        same(true, refused(Leasehold.Invalid.class, 400, () -> client.create("a b", null)).detail.contains("a b"));
        same(true, refused(Leasehold.TooLarge.class, 413, () -> client.create(action, "x".repeat(2 << 20))).detail.contains("1048576"));
        System.out.println("errors");

        var session = client.session(Map.of(action, 4), action, 30);
        var claimed = session.claim(2, 0);
        var first = claimed.get(0);
        var second = claimed.get(1);
        same(List.of(made.id(), DATA, 0L, keyed.id()), List.of(first.id(), first.data(), first.attempts(), second.id()));
        same(List.of(), session.claim(1, 0));
        var has = session.heartbeat().claims().stream().map(Leasehold.Claim::task).collect(Collectors.toSet());
        same(Set.of(first.id(), second.id()), has);
        first.extend();
        first.extend(0.5, "half");
        same(Map.of("fraction", 0.5, "text", "half"), client.get(first.id()).fields().get("progress"));
        var created = first.resolve(Map.of("ok", true), Map.of("action", action + "-next"));
        same(List.of(action + "-next"), created.stream().map(Leasehold.TaskInfo::action).toList());
        var ended = client.await(first.id(), null);
        same(List.of("resolved", Map.of("ok", true)), List.of(ended.state(), ended.result()));
        refused(Leasehold.StaleClaim.class, 409, () -> first.resolve(null));
        same("resolved", client.await(first.id(), Duration.ZERO).state());
        try {
            throw new AssertionError(client.await(second.id(), Duration.ZERO));
        } catch (Leasehold.TimedOut e) {
            same("claimed", e.task.state());
        }
        second.handBack(0);
        var again = session.claim(1, 5).get(0);
        same(List.of(second.id(), 0L), List.of(again.id(), again.attempts()));
        again.release("not an image", 0, "line", true);
        same("dead", client.await(second.id(), null).state());
        for (int n = 0; n < 2; n++) admin.requeue(second.id(), action + "-requeue"); // without a key, the second time is refused
        same("waiting", client.get(second.id()).state());
        for (int n = 0; n < 2; n++) client.cancel(second.id(), "done with it", action + "-cancel");
        refused(Leasehold.NotFound.class, 404, () -> client.cancel(second.id(), "late"));
        System.out.println("claim");

        var family = client.createAll(List.of(Map.of("action", action, "ref", "p"), Map.of("action", action, "after", List.of("p"))));
        session.claim(1, 0).get(0).resolve(List.of(1, 2));
        var last = session.claim(1, 5).get(0);
        same(family.get(1).id(), last.id());
        same(family.get(0).id(), last.parents().get(0).task());
        same(List.of(1L, 2L), last.parents().get(0).result());
        client.cancel(last.id(), "no longer needed");
        same("cancelled", client.await(last.id(), null).state());
        var parents = new ArrayList<Object>();
        for (int n = 0; n < 4; n++) parents.add(client.create(action, null).id());
        var sum = client.create(action, null, Map.of("after", parents), null).id();
        for (var task : session.claim(4, 0)) task.resolve("r".repeat(400_000));
        var large = session.claim(1, 5).get(0);
        same(sum, large.id());
        for (var p : large.parents()) same(400_000, ((String) p.result()).length());
        same(4, large.parents().size());
        large.resolve(null);
        refused(Leasehold.NotFound.class, 404, () -> client.parents(sum));
        System.out.println("parents");

        try (var nameless = client.session(Map.of(action, 1), "", 30)) { // two of one machine must differ
            client.create(action, null);
            var own = nameless.claim(1, 5).get(0);
            var claimant = (String) own.fields.get("current_claimant");
            same(true, claimant.matches("[^/]+/" + ProcessHandle.current().pid()));
            own.resolve(null);
        }
        System.out.println("name");

        select(client, admin, action);
        System.out.println("selection");

        session.close();
        refused(Leasehold.SessionClosed.class, 404, session::heartbeat);
        session.close();
        System.out.println("session");
    }

    private static void die(Leasehold client, String kind, int number) {
        var parent = client.create(kind, null).id();
        client.createAll(Collections.nCopies(number, Map.of("action", kind, "tags", List.of("many"), "after", List.of(parent))));
        client.cancel(parent, "");
    }

    private static void select(Leasehold client, Leasehold admin, String action) {
        var kind = action + "-many";
        var filter = Map.of("action", kind);
        die(client, kind, 1);
        var seen = client.count(Map.of("state", "dead", "action", kind, "tag", "many", "text", "cancelled"));
        same(1L, seen.count());
        die(client, kind, 2);
        var now = client.count(Map.of()).at();
        refused(Leasehold.Conflict.class, 409, () -> admin.discardSelected(new Leasehold.TaskCount(1, now), filter));
        same("conflict", admin.requeueSelected(seen, filter).refused().get(0).code()); // its parent cannot come back
        same(1, admin.discardSelected(seen, Map.of("state", "dead", "action", kind)).done().size()); // the later ones are left
        client.createAll(Collections.nCopies(1000, filter));
        client.createAll(Collections.nCopies(200, filter));
        var live = client.count(filter);
        same(1200L, live.count());
        same(1200, client.cancelSelected(live, filter, "moved").done().size());
        List<Object> names;
        do { // they are at most a second old
            names = client.actions().stream().map(a -> a.get("action")).toList();
        } while (!names.contains(action));
        same(names.stream().sorted().toList(), names);
        same(List.of(), client.leases());
        var attention = client.attention();
        same(true, attention.get("at") instanceof String && attention.get("items") instanceof List);
        var day = client.history(action, "day");
        same(List.of(action, "day", 60L), List.of(day.get("action"), day.get("span"), day.get("step_s")));
        same(null, client.history(null, "hour").get("action"));
    }

    private static Object handle(Leasehold.Task task) throws InterruptedException {
        switch ((String) task.data().get("do")) {
            case "double":
                return 2 * (Long) task.data().get("n");
            case "slow": // longer than the session's TTL
                task.extend(0.5, "slow");
                Thread.sleep(1600);
                return "done";
            case "wait": // n milliseconds
                Thread.sleep((Long) task.data().get("n"));
                return "waited";
            case "fail":
                throw new IllegalStateException("broken");
            case "exit": // not an Exception
                throw new AssertionError("leave");
            case "unsendable": // any value has a JSON text, but this one is too large
                return "x".repeat(2 << 20);
            case "never":
                throw new Leasehold.HandBack(-1);
            case "shout":
                throw new IllegalStateException("x".repeat(2 << 20));
            case "hopeless":
                task.log("a note");
                return 1 / (task.data().size() - 2);
            case "giveup":
                throw new Leasehold.GiveUp("never");
            case "later":
                if (SEEN.add(task.id())) throw new Leasehold.HandBack(0.1);
                return "later";
            case "finish":
                while (!task.draining()) Thread.sleep(10);
                return "finished";
            default:
                while (!task.stopped()) Thread.sleep(10);
                return "stuck";
        }
    }
}
