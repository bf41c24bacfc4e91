package leasehold;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Does with the client what lines on its input say, for clients/conformance_test.go.
 *
 * <p>A line is a JSON object: do is one of the verbs below, the other fields are its arguments. The answer is a line with
 * ok, or with error. Handlers of tasks print lines with event meanwhile.
 */
public final class Driver {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    private static final Map<String, Leasehold> CLIENTS = new HashMap<>();
    private static final Map<String, Leasehold.Session> SESSIONS = new HashMap<>();
    private static final Map<String, Leasehold.Task> TASKS = new HashMap<>();
    private static final Set<String> LATER = ConcurrentHashMap.newKeySet();
    private static final Set<String> RUNNING = ConcurrentHashMap.newKeySet(); // tasks of the handler together

    public static void main(String[] args) throws IOException {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = lines.readLine()) != null; ) {
            var a = new Arguments(object(Leasehold.Json.read(line)));
            try {
                tell("ok", answer(a));
            } catch (Exception e) {
                tell("error", failure(e));
            }
        }
    }

    /** The fields of a line. */
    private record Arguments(Map<String, Object> fields) {
        String text(String name, String otherwise) { return (String) fields.getOrDefault(name, otherwise); }
        String text(String name) { return text(name, null); }
        int number(String name, int otherwise) { return ((Number) fields.getOrDefault(name, otherwise)).intValue(); }
        Map<String, Object> object(String name) { return Driver.object(fields.getOrDefault(name, Map.of())); }
        @SuppressWarnings("unchecked") List<Map<String, Object>> list(String name) { return (List<Map<String, Object>>) fields.getOrDefault(name, List.of()); }
        Leasehold client() { return CLIENTS.get(text("client", "main")); }
        Leasehold.Session session() { return SESSIONS.get(text("session", "main")); }
        Leasehold.Task task() { return TASKS.get(text("id")); }
        Leasehold.TaskCount seen() { return new Leasehold.TaskCount((Long) object("seen").get("count"), (String) object("seen").get("at")); }
    }

    @SuppressWarnings("unchecked") private static Map<String, Object> object(Object value) { return (Map<String, Object>) value; }

    private static void tell(String kind, Object value) {
        var line = new LinkedHashMap<String, Object>();
        line.put(kind, value);
        OUT.println(Leasehold.Json.write(line));
    }

    private static void event(String kind, Leasehold.Task task) {
        OUT.println(Leasehold.Json.write(Map.of("event", kind, "task", task.id())));
    }

    private static Object answer(Arguments a) throws Exception {
        switch (a.text("do")) {
            case "connect": CLIENTS.put(a.text("client", "main"), new Leasehold(a.text("url"), a.text("token"), a.text("ca"))); return null;
            case "create": return a.client().create(a.text("action"), a.fields.get("data"), a.object("options"), a.text("key")).fields();
            case "create_all": return fields(a.client().createAll(a.list("tasks"), a.text("key")));
            case "get": return a.client().get(a.text("id")).fields();
            case "parents": return parents(a.client().parents(a.text("id")));
            case "wait": return a.client().await(a.text("id"), a.fields.containsKey("timeout") ? Duration.ofSeconds(a.number("timeout", 0)) : null).fields();
            case "cancel": a.client().cancel(a.text("id"), a.text("reason", ""), a.text("key")); return null;
            case "requeue": a.client().requeue(a.text("id"), a.text("key")); return null;
            case "actions": return a.client().actions();
            case "leases": return a.client().leases();
            case "attention": return a.client().attention();
            case "history": return a.client().history(a.text("action"), a.text("span", "hour"));
            case "count": var count = a.client().count(a.object("filter")); return Map.of("count", count.count(), "at", count.at());
            case "requeue_selected": return changed(a.client().requeueSelected(a.seen(), a.object("filter")));
            case "discard_selected": return changed(a.client().discardSelected(a.seen(), a.object("filter")));
            case "cancel_selected": return changed(a.client().cancelSelected(a.seen(), a.object("filter"), a.text("reason", "")));
            case "process": return Map.of("pid", ProcessHandle.current().pid(), "host", java.net.InetAddress.getLocalHost().getHostName());
            case "test_coordinator":
                try (var coordinator = Leasehold.TestCoordinator.start()) {
                    return coordinator.client().create("a", null).fields();
                }
            case "work": work(a); return null;
            default: return answerOfSession(a);
        }
    }

    private static Object answerOfSession(Arguments a) {
        switch (a.text("do")) {
            case "session":
                var serves = new LinkedHashMap<String, Integer>();
                a.object("serves").forEach((action, slots) -> serves.put(action, ((Number) slots).intValue()));
                SESSIONS.put(a.text("session", "main"), a.client().session(serves, a.text("name", ""), a.number("ttl", 30)));
                return null;
            case "heartbeat":
                var now = a.session().heartbeat();
                return Map.of("draining", now.draining(), "claims", now.claims().stream().map(c -> Map.of("task", c.task(), "token", c.token())).toList());
            case "resume": a.session().resume(); return null;
            case "end": a.session().close(); return null;
            case "claim":
                var claimed = a.session().claim(a.number("limit", 1), a.number("wait", 0));
                claimed.forEach(task -> TASKS.put(task.id(), task));
                return claimed.stream().map(task -> task.fields).toList();
            case "task_parents": return parents(a.task().parents());
            case "extend":
                if (a.fields.containsKey("fraction")) a.task().extend(((Number) a.fields.get("fraction")).doubleValue(), a.text("text", ""));
                else a.task().extend();
                return null;
            case "resolve": return fields(a.task().resolve(a.fields.get("result"), a.list("create").toArray(Map[]::new)));
            case "release": a.task().release(a.text("error"), 0, a.text("output", ""), Boolean.TRUE.equals(a.fields.get("give_up"))); return null;
            case "hand_back": a.task().handBack(a.number("delay", 0)); return null;
            default: throw new IllegalArgumentException(a.text("do"));
        }
    }

    private static List<Map<String, Object>> fields(List<Leasehold.TaskInfo> tasks) { return tasks.stream().map(Leasehold.TaskInfo::fields).toList(); }

    private static Object parents(List<Leasehold.Parent> all) {
        return all.stream().map(p -> {
            var fields = new LinkedHashMap<String, Object>(Map.of("task", p.task(), "state", p.state()));
            fields.put("result", p.result());
            return fields;
        }).toList();
    }

    private static Object changed(Leasehold.Changed c) {
        return Map.of("done", c.done(), "refused", c.refused().stream().map(r -> Map.of("task", r.task(), "code", r.code(), "detail", r.detail())).toList());
    }

    private static Map<String, Object> failure(Exception e) {
        var fields = new LinkedHashMap<String, Object>(Map.of("kind", e instanceof Leasehold.TimedOut ? "Timeout" : e.getClass().getSimpleName(), "text", String.valueOf(e.getMessage())));
        if (e instanceof Leasehold.Failure f) fields.putAll(Map.of("status", f.status, "code", f.code, "title", f.title, "detail", f.detail));
        if (e instanceof Leasehold.Unavailable u) fields.put("happened", u.happened);
        return fields;
    }

    private static void work(Arguments a) throws InterruptedException {
        var action = a.text("action");
        Leasehold.Worker.builder(a.client()).handle(action, Driver::handle).concurrency(a.number("concurrency", 2)).name(a.text("name", action))
            .ttl(a.number("ttl", 1)).drain(Duration.ofSeconds(a.number("drain", 1)))
            .giveUp(ArithmeticException.class).retry(IllegalStateException.class, 0).build().run();
    }

    /** Waits until n tasks are worked on at once. */
    private static void together(Leasehold.Task task, int n) throws InterruptedException {
        synchronized (RUNNING) {
            RUNNING.add(task.id());
            RUNNING.notifyAll();
            while (RUNNING.size() < n) RUNNING.wait();
        }
    }

    private static Object handle(Leasehold.Task task) throws InterruptedException {
        event("started", task);
        var number = (Number) task.data().getOrDefault("n", 0L);
        var what = (String) task.data().get("do");
        switch (what) {
            case "double": return 2 * number.longValue();
            case "echo": return task.data().get("value");
            case "large": return "x".repeat(number.intValue() - 2); // n bytes of JSON
            case "together": together(task, number.intValue()); return what;
            case "slow": // longer than the session's TTL
                task.extend(0.5, "slow");
                Thread.sleep(1600);
                return "done";
            case "wait": Thread.sleep(number.longValue()); return what; // n milliseconds
            case "fail": throw new IllegalStateException("broken");
            case "exit": throw new AssertionError("leave"); // not an Exception
            case "unsendable": return "x".repeat(2 << 20); // any value has a JSON text, but this one is too large
            case "never": throw new Leasehold.HandBack(-1);
            case "shout": throw new IllegalStateException("x".repeat(2 << 20));
            case "hopeless":
                task.log("a note");
                return 1 / (task.data().size() - 1);
            case "giveup": throw new Leasehold.GiveUp("never");
            case "later":
                if (LATER.add(task.id())) throw new Leasehold.HandBack(0.1);
                return what;
            case "finish":
                while (!task.draining()) Thread.sleep(10);
                return "finished";
            default:
                try {
                    while (!task.stopped()) Thread.sleep(10);
                } catch (InterruptedException stopped) {
                    if (!task.stopped()) throw stopped;
                }
                event("stopped", task);
                return what;
        }
    }
}
