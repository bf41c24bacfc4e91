package leasehold;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.math.BigInteger;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.URI;
import java.net.URL;
import java.net.URLEncoder;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/**
 * A client of Leasehold's tasks: create them, wait for them, and work on them. One file, Java 17 or
 * newer, without libraries; install it with Maven, or copy it into your sources.
 *
 * <pre>{@code
 * var client = new Leasehold();                          // http://127.0.0.1:7412
 * var task = client.create("count", Map.of("words", List.of("a", "b")));
 * System.out.println(client.await(task.id(), null).result());
 *
 * // in another process, until SIGTERM:
 * Leasehold.Worker.builder(client).handle("count", t -> ((List<?>) t.data().get("words")).size()).concurrency(4).build().run();
 *
 * // a coordinator that authenticates wants a token, and shows a certificate of its own CA:
 * new Leasehold("https://server:7412", "@ci.token", "ca.pem");
 *
 * // coordinators that share a realm are given together, and the client calls the one that serves:
 * new Leasehold("http://one:7412,http://two:7412");
 * }</pre>
 *
 * <p>JSON is represented by Map, List, String, Long (BigInteger from 19 digits on), Double, Boolean and null.
 * {@link TaskInfo#fields} has all fields of docs/json.md. Durations are seconds. A refused request throws a subclass of {@link Failure}.
 * Requests that change something are repeated after errors that can pass, with an idempotency key, so
 * that they take effect once. All methods may be called by several threads.
 */
public final class Leasehold {
    private static final int TRIES = 5; // of one request, at least
    private static final int WAIT = 20; // seconds that one request waits for a task, at most 25
    private static final int MOST = 64; // tasks that one request claims, and ends that it tells
    private static final int MOST_LOGGED = 2048; // characters that a task keeps of what it logs
    private static final int PAGE = 1000; // items of one page of a list
    private static final int MOST_TOLD = 512 * 1024; // characters of ends that one request tells, unless it tells one only
    private static final int OUTAGE = 60; // seconds in which a call of this class goes on without a coordinator that has answered before
    private static final int TIMEOUT = 60_000; // milliseconds without an answer
    private static final int CONNECT = 10_000; // milliseconds until a connection is accepted
    private static final int CONNECT_NEXT = 5_000; // the same with several coordinators
    private static final int SILENCE = 5_000; // milliseconds that one of several coordinators has to answer a session, at least
    private static final String HOST = hostName();
    private static final Pattern LOOPBACK = Pattern.compile("localhost|127\\.[\\d.]+|\\[::1\\]");
    private static final Pattern KEY = Pattern.compile("[!-~]{1,128}");
    /** Codes of answers that are not from a coordinator, by status. */
    private static final Map<Integer, String> OF_PROXIES = Map.of(429, "overloaded", 502, "unavailable", 503, "unavailable", 504, "unavailable");
    private static final System.Logger LOG = System.getLogger("leasehold");

    private final SSLSocketFactory trusted; // null: the CAs of the system
    private final List<String> all; // URLs of the coordinators
    private volatile String first; // which answered last
    private final String token; // no token: empty
    private volatile boolean answered; // whether a coordinator has, so that one restarts if none does

    /** A client of the coordinator at LEASEHOLD_HTTP, or at port 7412. */
    public Leasehold() { this(null); }

    /**
     * A client of the coordinator at a URL, such as http://127.0.0.1:7412. Several, separated by commas, stand by for
     * each other: a request goes to the one that answered last, and to the next one at once if it cannot be reached or
     * stands by. LEASEHOLD_HTTP may have several too.
     */
    public Leasehold(String url) { this(url, null, null); }

    /**
     * A client of a coordinator that authenticates. The token is what {@code leasehold token create} printed, or
     * "@FILE"; null: LEASEHOLD_TOKEN. The CA is a file with what {@code leasehold identity show --ca} printed; null:
     * LEASEHOLD_CA. Without a URL it is that of LEASEHOLD_HTTP or port 7412, and with one of them https.
     */
    public Leasehold(String url, String token, String ca) {
        this.token = secret(token != null ? token : environment("LEASEHOLD_TOKEN", ""));
        var trusted = ca != null ? ca : environment("LEASEHOLD_CA", "");
        var scheme = this.token.isEmpty() && trusted.isEmpty() ? "http://" : "https://";
        all = Arrays.stream((url != null ? url : environment("LEASEHOLD_HTTP", "127.0.0.1:7412")).split(",", -1))
            .map(one -> checked(URI.create((url != null ? "" : scheme) + one.strip()))).toList();
        first = all.get(0);
        this.trusted = trusted.isEmpty() ? null : trusting(trusted).getSocketFactory();
    }

    /** Returns a URL without a slash at its end. A token must not be read on its way there. */
    private String checked(URI at) {
        if (!this.token.isEmpty() && "http".equals(at.getScheme()) && !LOOPBACK.matcher(at.getHost()).matches()) {
            throw new IllegalArgumentException("url " + at + ": a token is sent over https only, because others could read it");
        }
        return at.toString().replaceAll("/+$", "");
    }

    private static String environment(String name, String otherwise) { return System.getenv().getOrDefault(name, otherwise); }

    /** Returns a secret, which may be in a file (@FILE). */
    private static String secret(String text) {
        try {
            return (text.startsWith("@") ? Files.readString(Path.of(text.substring(1))) : text).strip();
        } catch (IOException e) {
            throw new IllegalArgumentException("token " + text + ": " + e, e);
        }
    }

    /** Returns the settings of TLS that trust only the CA in a PEM file. */
    private static SSLContext trusting(String ca) {
        try (var file = Files.newInputStream(Path.of(ca))) {
            var store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(file)) {
                store.setCertificateEntry("ca-" + store.size(), certificate);
            }
            var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalArgumentException("ca " + ca + ": " + e + ": want a PEM file (leasehold identity show --ca)", e);
        }
    }

    /** A request that the coordinator refused, or that did not reach it (status 0). */
    public static class Failure extends RuntimeException {
        public final int status;
        public final String code, title, detail;

        Failure(int status, String code, String title, String detail) {
            super(detail.isEmpty() ? title : detail);
            this.status = status;
            this.code = code;
            this.title = title;
            this.detail = detail;
        }

        static Failure of(int status, String code, String title, String detail) {
            return switch (code) {
                case "invalid", "usage" -> new Invalid(status, code, title, detail);
                case "not_found" -> new NotFound(status, code, title, detail);
                case "conflict" -> new Conflict(status, code, title, detail);
                case "stale_token" -> new StaleClaim(status, code, title, detail);
                case "key_reused" -> new KeyReused(status, code, title, detail);
                case "closed" -> new SessionClosed(status, code, title, detail);
                case "too_large" -> new TooLarge(status, code, title, detail);
                case "unauthenticated" -> new Unauthenticated(status, code, title, detail);
                case "forbidden" -> new Forbidden(status, code, title, detail);
                case "overloaded", "unavailable" -> new Unavailable(status, code, title, detail);
                default -> new Failure(status, code, title, detail);
            };
        }
    }

    /** The request has a field that is not accepted. */
    public static class Invalid extends Failure { Invalid(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** There is no such task. */
    public static class NotFound extends Failure { NotFound(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The state of the task does not allow it. */
    public static class Conflict extends Failure { Conflict(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The task is not this worker's any more: stop working on it. */
    public static class StaleClaim extends Conflict { StaleClaim(int s, String c, String t, String d) { super(s, c, t, d); } }
    /**
     * The token is missing or wrong or has ended; or, with status 0, the coordinator's certificate is not of the CA or
     * not for this name, and no request was sent.
     */
    public static class Unauthenticated extends Failure { Unauthenticated(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The token lacks the role that the request needs. */
    public static class Forbidden extends Failure { Forbidden(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The idempotency key belongs to another request. */
    public static class KeyReused extends Failure { KeyReused(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The session was lost or has ended, and its claims with it. */
    public static class SessionClosed extends Failure { SessionClosed(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The data or the result is too large; the detail names the limit. */
    public static class TooLarge extends Failure { TooLarge(int s, String c, String t, String d) { super(s, c, t, d); } }
    /** The coordinator is overloaded or cannot be reached. */
    public static class Unavailable extends Failure {
        /** False: the request did not reach it. Null: it may have; the same key does it once. */
        public final Boolean happened;
        private final String owner; // from a coordinator that stands by: the URL of the one that serves; null otherwise

        Unavailable(int s, String c, String t, String d) { this(s, c, t, d, c.equals("overloaded") ? false : null, null); }

        Unavailable(int s, String c, String t, String d, Boolean happened, String owner) {
            super(s, c, t, d);
            this.happened = happened;
            this.owner = owner;
        }
    }

    /**
     * A task as it was when the coordinator answered. State is one of waiting, delayed, blocked, paused, claimed,
     * resolved, dead and cancelled; data and result are null if there are none; note says why it waits, or how it
     * ended, and is empty if there is nothing to say. fields has everything that the API returned.
     */
    public record TaskInfo(String id, String action, String state, Object data, Object result, long priority, long attempts, String note, Map<String, Object> fields) {
        static TaskInfo of(Map<String, Object> f) {
            return new TaskInfo((String) f.get("id"), (String) f.get("action"), (String) f.get("state"), f.get("data"), f.get("result"),
                (Long) f.getOrDefault("priority", 0L), (Long) f.getOrDefault("attempts", 0L), (String) f.getOrDefault("note", ""), f);
        }

        static List<TaskInfo> all(Object list) { return maps(list).stream().map(TaskInfo::of).toList(); }

        /** Whether it is resolved, dead or cancelled. */
        public boolean hasEnded() { return Set.of("resolved", "dead", "cancelled").contains(state); }
    }

    /** How a task of "after" ended. A result that is left out is too large for one claim. */
    public record Parent(String task, String state, Object result, boolean leftOut) {
        static List<Parent> all(Object list) {
            return maps(list).stream().map(p -> new Parent((String) p.get("task"), (String) p.get("state"), p.get("result"), p.containsKey("left_out"))).toList();
        }
    }

    /** What a session has: its claims, and whether it shall drain. */
    public record Heartbeat(List<Claim> claims, boolean draining) {
        static Heartbeat of(Map<String, Object> f) {
            return new Heartbeat(maps(f.get("claims")).stream().map(c -> new Claim((String) c.get("task"), (Long) c.get("token"))).toList(), Boolean.TRUE.equals(f.get("draining")));
        }
    }

    /** A claim of a session: a task, and the token that proves an attempt to be the current one. */
    public record Claim(String task, long token) {}

    /** How many tasks a filter selected, and when. */
    public record TaskCount(long count, String at) {}

    /** What became of the tasks that a filter selected: ids of those that were changed, and why others were not. */
    public record Changed(List<String> done, List<Refusal> refused) {}

    /** Why a task was not changed; the code is as that of a {@link Failure}. */
    public record Refusal(String task, String code, String detail) {}

    /** The task had not ended when the timeout of {@link #await} was over. */
    public static class TimedOut extends RuntimeException {
        /** The task as it was then. */
        public final transient TaskInfo task;

        TimedOut(TaskInfo task, Duration timeout) {
            super("task " + task.id() + " is " + task.state() + " after " + timeout.toMillis() / 1e3 + " s");
            this.task = task;
        }
    }

    /** Thrown by a handler: no worker could do the task, so it is dead at once. */
    public static class GiveUp extends RuntimeException {
        public GiveUp(String reason) { super(reason); }
    }

    /** Thrown by a handler: not now. The attempt is not counted. */
    public static class HandBack extends RuntimeException {
        final double delay;

        public HandBack(double delay) {
            super("handed back for " + delay + " s");
            this.delay = delay;
        }
    }

    /** Creates a task and returns it. */
    public TaskInfo create(String action, Object data) { return create(action, data, Map.of(), null); }

    /**
     * Creates a task and returns it. Options are the fields of the API, such as "priority", "timeout",
     * "unique_key", "after"; null: none. The same key creates the task once; null: a new key.
     */
    public TaskInfo create(String action, Object data, Map<String, ?> options, String key) {
        var body = new LinkedHashMap<String, Object>(options == null ? Map.of() : options);
        body.put("action", action);
        body.put("data", data);
        return TaskInfo.of(patiently("/tasks", body, key));
    }

    /** Creates tasks, all or none: maps with action, data and options. */
    public List<TaskInfo> createAll(List<? extends Map<String, ?>> tasks) { return createAll(tasks, null); }

    /** Creates tasks, all or none. The same key creates them once; null: a new key. */
    public List<TaskInfo> createAll(List<? extends Map<String, ?>> tasks, String key) {
        return TaskInfo.all(patiently("/task-batches", Map.of("tasks", tasks), key).get("items"));
    }

    /** Returns a task, alive or ended. {@link NotFound}: it never was, or ended long ago. */
    public TaskInfo get(String id) { return TaskInfo.of(request("GET", "/tasks/" + quote(id), null, null, null, PATIENT)); }

    /** Returns how the tasks of "after" of a task ended, with all results. {@link NotFound}: it never was, or has ended. */
    public List<Parent> parents(String id) {
        var found = new ArrayList<Parent>();
        for (Object next = 0; next != null; ) {
            var page = request("GET", "/tasks/" + quote(id) + "/parents?offset=" + next, null, null, null, PATIENT);
            found.addAll(Parent.all(page.get("items")));
            next = page.get("next");
        }
        return found;
    }

    /**
     * Waits until a task is resolved, dead or cancelled, and returns it. After the timeout, if that is
     * not null, throws {@link TimedOut}.
     */
    public TaskInfo await(String id, Duration timeout) {
        long end = timeout == null ? PATIENT : System.nanoTime() + timeout.toNanos();
        int wait = 0; // the first request does not wait, to learn whether a coordinator answers
        while (true) {
            var task = TaskInfo.of(request("GET", "/tasks/" + quote(id) + "?wait=" + wait, null, null, null, end));
            if (task.hasEnded()) return task;
            if (timeout != null && System.nanoTime() >= end) throw new TimedOut(task, timeout);
            wait = timeout == null ? WAIT : (int) Math.ceil(Math.min(WAIT, (end - System.nanoTime()) / 1e9));
        }
    }

    /** Ends a task that has not ended; its worker stops. */
    public void cancel(String id, String reason) { cancel(id, reason, null); }

    /** Ends a task that has not ended. The same key does it once; null: a new key. */
    public void cancel(String id, String reason, String key) {
        patiently("/tasks/" + quote(id) + "/cancel", Map.of("reason", reason), key);
    }

    /** Has a dead task tried again. */
    public void requeue(String id) { requeue(id, null); }

    /** Has a dead task tried again. The same key does it once; null: a new key. */
    public void requeue(String id, String key) { patiently("/dead/" + quote(id) + "/requeue", null, key); }

    /** Returns the actions with their figures (docs/json.md), by name: tasks by state, pause, workers, rates, durations. */
    public List<Map<String, Object>> actions() { return list("/actions"); }

    /** Returns the leases of managers, with the fields of docs/json.md. */
    public List<Map<String, Object>> leases() { return list("/leases"); }

    /** Returns what a person should look at: the time "at", and "items" with the fields of docs/json.md, the worst first. */
    public Map<String, Object> attention() { return request("GET", "/attention", null, null, null, PATIENT); }

    /**
     * Returns the counts of tasks by interval, with the fields of docs/json.md. An action of null means all actions. The
     * span is "hour", "day" or "two-weeks".
     */
    public Map<String, Object> history(String action, String span) {
        var query = new LinkedHashMap<String, Object>(Map.of("span", span));
        if (action != null) query.put("action", action);
        return request("GET", "/history" + query(query), null, null, null, PATIENT);
    }

    /**
     * Counts the tasks that a filter selects: those that are alive, or those of a state. The filter has "state",
     * "action", "tag", "group", "text", "data", "older" and "younger"; a key that is missing selects all. Pass the
     * answer to requeueSelected, discardSelected or cancelSelected.
     */
    public TaskCount count(Map<String, ?> filter) {
        var found = request("GET", "/bulk/count" + query(filter), null, null, null, PATIENT);
        return new TaskCount((Long) found.get("count"), (String) found.get("at"));
    }

    /**
     * Has the dead tasks that a filter selects tried again. seen is what count returned for it with the state "dead".
     * Later ones are left out. {@link Conflict}: more are selected than were counted.
     */
    public Changed requeueSelected(TaskCount seen, Map<String, ?> filter) { return selected("requeue", seen, filter); }

    /** Removes the dead tasks that a filter selects, as requeueSelected does. */
    public Changed discardSelected(TaskCount seen, Map<String, ?> filter) { return selected("discard", seen, filter); }

    /** Ends the tasks that a filter selects and that are alive, as requeueSelected does. */
    public Changed cancelSelected(TaskCount seen, Map<String, ?> filter, String reason) {
        var body = new LinkedHashMap<String, Object>(filter);
        body.put("reason", reason);
        return selected("cancel", seen, body);
    }

    private List<Map<String, Object>> list(String path) {
        var found = new ArrayList<Map<String, Object>>();
        for (long offset = 0; ; ) {
            var page = request("GET", path + "?offset=" + offset + "&limit=" + PAGE, null, null, null, PATIENT);
            var items = maps(page.get("items"));
            found.addAll(items);
            long read = items.size() + (Long) page.getOrDefault("omitted", 0L); // these are too large to be shown
            offset += read;
            if (read == 0 || offset >= (Long) page.get("total")) return found;
        }
    }

    private Changed selected(String verb, TaskCount seen, Map<String, ?> filter) {
        var body = new LinkedHashMap<String, Object>(filter);
        body.put("count", seen.count());
        body.put("before", seen.at());
        if (!verb.equals("cancel")) body.remove("state"); // it is that of dead tasks
        var done = new ArrayList<String>();
        var refused = new ArrayList<Refusal>();
        while (true) { // each request changes some
            var part = patiently("/bulk/" + verb, body, null);
            ((List<?>) part.get("done")).forEach(id -> done.add((String) id));
            maps(part.get("refused")).forEach(r -> refused.add(new Refusal((String) r.get("task"), (String) r.get("code"), (String) r.get("detail"))));
            if (part.get("next") == null) return new Changed(done, refused);
            body.put("cursor", part.get("next"));
        }
    }

    private static String query(Map<String, ?> fields) {
        return fields.entrySet().stream().map(f -> f.getKey() + "=" + quote(String.valueOf(f.getValue()))).collect(Collectors.joining("&", "?", ""));
    }

    /**
     * Opens the session of a worker that serves actions: slots by action. It lives while a request of it
     * comes within each ttl. A worker of the same name is not offered the task that it just failed; without a
     * name, it is that of the machine and the process.
     */
    public Session session(Map<String, Integer> serves, String name, int ttlSeconds) {
        var body = new LinkedHashMap<String, Object>();
        var list = new ArrayList<Object>();
        serves.forEach((action, slots) -> list.add(Map.of("action", action, "slots", slots)));
        long pid = ProcessHandle.current().pid();
        body.put("name", name == null || name.isEmpty() ? HOST + "/" + pid : name);
        body.put("ttl", ttlSeconds);
        body.put("host", HOST);
        body.put("pid", pid);
        body.put("serves", list);
        return new Session(body, (String) post("/sessions", body, null, null, patience(ttlSeconds, 0)).get("id"));
    }

    /** Returns after how many milliseconds a session asks another coordinator, soon enough to be kept there. */
    private static int patience(int ttlSeconds, int waitSeconds) { return waitSeconds * 1000 + Math.max(SILENCE, ttlSeconds * 1000 / 3); }

    /** The session of a worker, to which its claims belong. Close it: its tasks are offered to others then. */
    public final class Session implements AutoCloseable {
        public final String id;
        private final Map<String, Object> body;
        private volatile Runnable reopen; // set by a Worker: what to do after SessionClosed

        Session(Map<String, Object> body, String id) {
            this.body = body;
            this.id = id;
        }

        /** Goes on after a restart of the coordinator. {@link SessionClosed}: the session was lost. */
        public void resume() {
            var again = new LinkedHashMap<>(body);
            again.put("resume", id);
            send("/sessions", again, null, null, 0);
        }

        /** Keeps the session alive. Returns its claims, and whether it is draining. */
        public Heartbeat heartbeat() { return heartbeat(0, null); }

        /** Keeps the session alive, and returns within wait seconds, at most 25: at once when it loses a task or shall drain. */
        public Heartbeat heartbeat(int waitSeconds) { return heartbeat(waitSeconds, null); }

        private Heartbeat heartbeat(int waitSeconds, Stop stop) {
            return Heartbeat.of(send(path() + "/heartbeat", Map.of("wait", waitSeconds), null, stop, waitSeconds));
        }

        /**
         * Claims up to limit tasks of the actions (those that the session serves if there are none), and
         * waits up to 25 seconds for the first one. The list may be empty.
         */
        public List<Task> claim(int limit, int waitSeconds, String... actions) { return claim(limit, waitSeconds, null, actions); }

        private List<Task> claim(int limit, int waitSeconds, Stop stop, String... actions) {
            var wanted = new LinkedHashMap<String, Object>(Map.of("limit", limit, "wait", waitSeconds));
            if (actions.length > 0) wanted.put("actions", List.of(actions));
            return maps(send(path() + "/claims", wanted, null, stop, waitSeconds).get("items")).stream().map(fields -> new Task(this, fields)).toList();
        }

        /** Ends tasks, and claims up to limit others in the same step. The key belongs to the ends. */
        private Told next(List<End> ends, int limit, String key) {
            var body = ends.stream().map(End::text).collect(Collectors.joining(",", "{\"limit\":" + limit + ",\"finish\":[", "]}"));
            var found = send(path() + "/claims", new Text(body), key + "/" + id, null, 0);
            return new Told(maps(found.get("finished")), maps(found.get("items")).stream().map(fields -> new Task(this, fields)).toList());
        }

        /** Ends the session. Tasks that it has are handed back. */
        @Override public void close() {
            try {
                request("DELETE", path(), null, null, null, 0);
            } catch (NotFound | SessionClosed lost) {
                LOG.log(System.Logger.Level.DEBUG, "the session was lost: " + lost.getMessage());
            }
        }

        String path() { return "/sessions/" + quote(id); }

        private Map<String, Object> send(String path, Object request, String key, Stop stop, int waitSeconds) {
            return post(path, request, key, stop, patience((Integer) body.get("ttl"), waitSeconds));
        }
    }

    /** A task that a session has claimed. */
    public final class Task {
        /** All that the API returned. */
        public final Map<String, Object> fields;
        private final Session session;
        private volatile boolean stopped, draining;
        private volatile long due; // when it times out, by System.nanoTime
        private final StringBuffer lines = new StringBuffer();
        private Thread thread; // of a Worker: of its handler; guarded by the worker

        Task(Session session, Map<String, Object> fields) {
            this.session = session;
            this.fields = fields;
            startTimeout();
        }

        private void startTimeout() { due = System.nanoTime() + (long) (((Number) fields.get("timeout")).doubleValue() * 1e9); }

        public String id() { return (String) fields.get("id"); }
        public String action() { return (String) fields.get("action"); }
        public long attempts() { return (Long) fields.get("attempts"); }
        public long token() { return (Long) fields.get("token"); }
        /** How the tasks of "after" ended. Results that are too large for one claim are read when this is called. */
        public List<Parent> parents() {
            var carried = Parent.all(fields.getOrDefault("parents", List.of()));
            return carried.stream().anyMatch(Parent::leftOut) ? Leasehold.this.parents(id()) : carried;
        }
        /** The data, if it is an object or null. A ClassCastException tells of any other, which {@link #value} returns. */
        @SuppressWarnings("unchecked") public Map<String, Object> data() {
            if (value() == null || value() instanceof Map) return (Map<String, Object>) value();
            throw new ClassCastException("the data of task " + id() + " is a " + value().getClass().getSimpleName() + " and no object of JSON: use value()");
        }
        /** The data as JSON has it: a Map, List, String, Long, Double, Boolean or null. */
        public Object value() { return fields.get("data"); }
        /** Whether the task was cancelled, timed out or is another worker's. The thread of its handler is interrupted then. */
        public boolean stopped() { return stopped; }
        /** Whether the worker drains: finish soon, or the task is handed back. */
        public boolean draining() { return draining; }

        /** Notes a line. The last 2 KiB of them are kept with the attempt: before the stack trace, if it fails. */
        public void log(String text) {
            synchronized (lines) {
                lines.append(text).append('\n');
                if (lines.length() > MOST_LOGGED) lines.delete(0, lines.length() - MOST_LOGGED);
            }
        }

        /** Starts the timeout of the task again. */
        public void extend() {
            call("extend", Map.of());
            startTimeout();
        }
        /** Starts the timeout of the task again, and notes its progress: from 0 to 1, and a text. */
        public void extend(double fraction, String text) {
            call("extend", Map.of("progress", Map.of("fraction", fraction, "text", text)));
            startTimeout();
        }

        /** Ends the task with its result, any JSON, and creates tasks in the same transaction. Returns those. */
        @SafeVarargs public final List<TaskInfo> resolve(Object result, Map<String, ?>... create) {
            var body = new LinkedHashMap<String, Object>();
            body.put("result", result);
            body.put("create", List.of(create));
            if (lines.length() > 0) body.put("output", lines.toString());
            return TaskInfo.all(call("resolve", body).get("items"));
        }

        /** Gives the task back after an attempt that failed. Another worker may try; past its attempts it is dead. */
        public void release(String error) { release(error, 0, "", false); }
        /** Gives the task back; with giveUp it is dead at once. */
        public void release(String error, double delay, String output, boolean giveUp) {
            call("release", Map.of("error", error, "delay", delay, "output", output, "give_up", giveUp));
        }

        /** Gives the task back without counting an attempt. */
        public void handBack(double delay) { call("hand-back", Map.of("delay", delay)); }

        private Map<String, Object> call(String verb, Map<String, Object> more) {
            var body = new LinkedHashMap<>(more);
            body.put("token", token());
            var path = session.path() + "/claims/" + quote(id()) + "/" + verb;
            try {
                return session.send(path, body, null, null, 0);
            } catch (SessionClosed e) {
                if (session.reopen == null) throw e;
            }
            session.reopen.run();
            return session.send(path, body, null, null, 0);
        }
    }

    /** JSON text, to send as it is. */
    private record Text(String json) {}

    /** How a task ended, as a request tells it. What was refused, if it is: null, if the end says so
     *  already. plain is the same without output, which an older coordinator refuses; null: there is none. */
    private record End(Task task, String what, String text, End plain) {}

    /** The answers to ends, and further tasks. */
    private record Told(List<Map<String, Object>> answers, List<Task> tasks) {}

    /** Does one task and returns its result, any JSON. */
    public interface Handler {
        Object handle(Task task) throws Exception;
    }

    /**
     * Works on tasks, by a handler for each action. If a handler throws {@link GiveUp}, the task is dead;
     * {@link HandBack}, it is offered later; any other exception releases it, so that another worker may try, after
     * the delay that {@link Builder#retry} has for it.
     */
    public static final class Worker {
        private final Leasehold client;
        private final Map<String, Handler> handlers;
        private final int concurrency, ttl;
        private final Duration drain;
        private final String name;
        private final ExecutorService threads; // one more than tasks, because one tells how tasks ended
        private final Object lock = new Object(); // guards the next four, and is notified when they change
        private final Set<Task> running = new HashSet<>(); // tasks whose handlers have not returned
        private final ArrayDeque<End> ends = new ArrayDeque<>(); // of tasks whose handlers have, and that are not told
        private boolean telling; // whether a thread tells them
        private int asked; // tasks that requests under way may bring
        private final Stop stop = new Stop(), beating = new Stop();
        private final CountDownLatch ended = new CountDownLatch(1);
        private volatile Session session;

        private final Map<Class<? extends Throwable>, IntToDoubleFunction> retry;

        private Worker(Builder b) {
            if (b.handlers.isEmpty() || b.concurrency < 1) throw new IllegalArgumentException("a worker needs at least one handler, and a concurrency of at least 1");
            client = b.client;
            handlers = Map.copyOf(b.handlers);
            concurrency = b.concurrency;
            name = b.name;
            ttl = b.ttl;
            drain = b.drain;
            retry = new LinkedHashMap<>(b.retry);
            threads = threads(concurrency + 1);
        }

        /** A worker with handlers that the builder gets, for one task at a time unless it says otherwise. */
        public static Builder builder(Leasehold client) { return new Builder(client); }

        /** What a worker does, and how. */
        public static final class Builder {
            private final Leasehold client;
            private final Map<String, Handler> handlers = new LinkedHashMap<>();
            private final Map<Class<? extends Throwable>, IntToDoubleFunction> retry = new LinkedHashMap<>();
            private int concurrency = 1, ttl = 30;
            private String name = "";
            private Duration drain = Duration.ofSeconds(30);

            private Builder(Leasehold client) { this.client = client; }

            /** The handler of an action. */
            public Builder handle(String action, Handler handler) {
                handlers.put(action, handler);
                return this;
            }
            /** How many tasks it works on at a time. */
            public Builder concurrency(int tasks) {
                concurrency = tasks;
                return this;
            }
            /** Its name; without one it is that of the machine and the process. */
            public Builder name(String name) {
                this.name = name;
                return this;
            }
            /** How many seconds its session lives without a request; 30 if it is not set. */
            public Builder ttl(int seconds) {
                ttl = seconds;
                return this;
            }
            /** The time that handlers have to finish when the worker stops; 30 s if it is not set. Tasks that do not are handed back. */
            public Builder drain(Duration time) {
                drain = time;
                return this;
            }
            /** After how many seconds a task may be tried again whose handler threw an exception of a class. The first class that fits counts. */
            public Builder retry(Class<? extends Throwable> kind, double delay) { return retry(kind, attempts -> delay); }
            /** The same by the number of attempts that failed before. */
            public Builder retry(Class<? extends Throwable> kind, IntToDoubleFunction delay) {
                retry.put(kind, delay);
                return this;
            }
            /** A task whose handler threw an exception of a class is dead at once. */
            public Builder giveUp(Class<? extends Throwable> kind) { return retry(kind, attempts -> Double.NaN); }

            public Worker build() { return new Worker(this); }
        }

        /** Returns virtual threads where the JDK has them (21 or newer), else a fixed number of threads. */
        private static ExecutorService threads(int number) {
            try {
                return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
            } catch (ReflectiveOperationException older) {
                return Executors.newFixedThreadPool(number, work -> {
                    var thread = new Thread(work, "leasehold-task");
                    thread.setDaemon(true);
                    return thread;
                });
            }
        }

        /** Works until stop is called, SIGTERM or SIGINT comes, or an administrator drains the session. */
        public void run() throws InterruptedException {
            while (!begin()) if (stop.stopped()) return;
            var heart = new Thread(this::beat, "leasehold-heartbeat");
            heart.setDaemon(true);
            heart.start();
            var clock = new Thread(this::watchTimeouts, "leasehold-timeouts");
            clock.setDaemon(true);
            clock.start();
            var finished = new CountDownLatch(1);
            var hook = new Thread(() -> { // the process ends when the hook does
                stop();
                try {
                    finished.await(drain.toSeconds() + 10, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            Runtime.getRuntime().addShutdownHook(hook);
            try {
                while (!stop.stopped()) claim();
                finish();
            } finally {
                ended.countDown();
                beating.stop();
                heart.join();
                clock.join();
                threads.shutdown();
                session.close();
                finished.countDown();
                try {
                    Runtime.getRuntime().removeShutdownHook(hook);
                } catch (IllegalStateException e) {
                    LOG.log(System.Logger.Level.DEBUG, "the process ends");
                }
            }
        }

        /** Claims nothing new, finishes or hands back, and has run return. */
        public void stop() {
            stop.stop();
            synchronized (lock) { lock.notifyAll(); }
        }

        private boolean begin() throws InterruptedException {
            try {
                session = open();
                return true;
            } catch (Unavailable e) {
                pause(e);
                return false;
            }
        }

        private void pause(Unavailable e) throws InterruptedException {
            if (stop.stopped()) return;
            LOG.log(System.Logger.Level.WARNING, "coordinator unreachable, retrying: " + e.getMessage());
            ended.await(1, TimeUnit.SECONDS);
        }

        private Session open() {
            var serves = new LinkedHashMap<String, Integer>();
            handlers.keySet().forEach(action -> serves.put(action, concurrency));
            var session = client.session(serves, name, ttl);
            session.reopen = this::reopen;
            return session;
        }

        /** Returns for how many tasks there is room, and counts them as asked for. Only under the lock. */
        private int ask() {
            int free = stop.stopped() ? 0 : Math.min(concurrency - running.size() - asked, MOST);
            asked += free;
            return free;
        }

        /** Waits for tasks, unless what tells ends asks for them too. */
        private void claim() throws InterruptedException {
            int free = 0;
            synchronized (lock) {
                while (!stop.stopped() && (telling || (free = ask()) == 0)) lock.wait();
            }
            List<Task> tasks = List.of();
            try {
                if (free > 0) tasks = session.claim(free, WAIT, stop);
            } catch (SessionClosed e) {
                try {
                    reopen();
                } catch (Unavailable again) {
                    pause(again);
                }
            } catch (Unavailable e) {
                pause(e);
            } finally {
                start(tasks, free);
            }
        }

        /** Works on tasks, of as many as were asked for. */
        private void start(List<Task> tasks, int asked) {
            synchronized (lock) {
                this.asked -= asked;
                running.addAll(tasks);
                if (stop.stopped()) tasks.forEach(task -> task.draining = true);
            }
            tasks.forEach(task -> threads.execute(() -> work(task)));
        }

        /** Resumes the session after a restart of the coordinator, or opens another one. */
        private synchronized void reopen() {
            try {
                session.resume();
            } catch (Conflict e) {
                LOG.log(System.Logger.Level.DEBUG, "the session lives: another thread has resumed it");
            } catch (SessionClosed e) {
                LOG.log(System.Logger.Level.WARNING, "the session was lost; its tasks are offered to others");
                unfinished().forEach(this::interrupt);
                session = open();
            }
        }

        private List<Task> unfinished() {
            synchronized (lock) { return List.copyOf(running); }
        }

        private void interrupt(Task task) {
            synchronized (lock) {
                task.stopped = true;
                if (task.thread != null) task.thread.interrupt();
            }
        }

        /**
         * Keeps a heartbeat waiting, which answers when a task is lost or the session shall drain. Then sees
         * what the session has: tasks may have been claimed while it waited.
         */
        private void beat() {
            long pause = 0;
            try {
                while (!ended.await(pause, TimeUnit.MILLISECONDS)) {
                    pause = ttl * 1000L / 3;
                    try {
                        var seen = see();
                        if (seen == Seen.DRAINING) continue;
                        if (seen == Seen.ALL) session.heartbeat(client.all.size() > 1 ? Math.min(WAIT, ttl / 3) : WAIT, beating);
                        pause = 100;
                    } catch (SessionClosed e) {
                        try {
                            if (!stop.stopped()) reopen();
                        } catch (Failure again) {
                            LOG.log(System.Logger.Level.WARNING, "heartbeat: " + again.getMessage());
                        }
                    } catch (Failure e) {
                        if (!beating.stopped()) LOG.log(System.Logger.Level.WARNING, "heartbeat: " + e.getMessage());
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        /** What a heartbeat told: SOME means that a task that was claimed meanwhile may be lost already, which nothing tells again. */
        private enum Seen { DRAINING, ALL, SOME }

        /** Stops the tasks that the session does not have. */
        private Seen see() {
            var before = unfinished();
            var state = session.heartbeat();
            var has = new HashSet<>(state.claims());
            before.forEach(task -> {
                if (!has.contains(new Claim(task.id(), task.token()))) interrupt(task);
            });
            if (state.draining()) {
                stop();
                return Seen.DRAINING;
            }
            var known = unfinished().stream().allMatch(task -> before.contains(task) || has.contains(new Claim(task.id(), task.token())));
            return known ? Seen.ALL : Seen.SOME;
        }

        /** Stops tasks at their timeouts. */
        private void watchTimeouts() {
            try {
                while (!ended.await(100, TimeUnit.MILLISECONDS)) {
                    unfinished().forEach(task -> {
                        if (!task.stopped && System.nanoTime() - task.due >= 0) interrupt(task);
                    });
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void work(Task task) {
            synchronized (lock) { task.thread = Thread.currentThread(); }
            var end = conclude(task);
            boolean tells;
            synchronized (lock) {
                task.thread = null;
                Thread.interrupted(); // it was for the handler
                running.remove(task);
                if (end != null) ends.add(end);
                tells = !ends.isEmpty() && !telling;
                telling |= tells;
                lock.notifyAll();
            }
            if (tells) tell();
        }

        /** Calls the handler of a task, and returns how the task ended: null if it is not the worker's any more. */
        private End conclude(Task task) {
            try {
                return resolved(task, handlers.get(task.action()).handle(task));
            } catch (StaleClaim e) {
                LOG.log(System.Logger.Level.INFO, "task " + task.id() + " was taken away");
                return null;
            } catch (GiveUp e) {
                return end(task, "reason", "release", Map.of("error", String.valueOf(e.getMessage()), "give_up", true));
            } catch (HandBack e) {
                return end(task, "delay", "hand_back", Map.of("delay", e.delay));
            } catch (Throwable e) { // also an Error, which would end only this thread
                if (task.stopped) return null; // it is not ours any more
                var trace = new StringWriter();
                e.printStackTrace(new PrintWriter(trace));
                var fields = new LinkedHashMap<String, Object>(Map.of("error", e.toString(), "output", task.lines + trace.toString()));
                fields.putAll(again(task, e));
                return end(task, "error", "release", fields);
            }
        }

        /** Returns the end of a task with what its handler returned. What is no JSON is refused at once. */
        private static End resolved(Task task, Object returned) {
            var result = new LinkedHashMap<String, Object>();
            result.put("result", returned);
            try {
                var plain = end(task, "result", "resolve", result);
                if (task.lines.length() == 0) return plain;
                result.put("output", task.lines.toString());
                return new End(task, "result", end(task, "result", "resolve", result).text, plain);
            } catch (IllegalArgumentException | StackOverflowError e) { // a cycle has no end
                return refused(new End(task, "result", "", null), e.toString());
            }
        }

        /** Returns the fields of a release that say when the task is tried again. */
        private Map<String, Object> again(Task task, Throwable e) {
            for (var rule : retry.entrySet()) {
                if (!rule.getKey().isInstance(e)) continue;
                double delay = rule.getValue().applyAsDouble((int) task.attempts());
                return Double.isNaN(delay) ? Map.of("give_up", true) : Map.of("delay", delay);
            }
            return Map.of();
        }

        /** Returns the end of a task as a request tells it. */
        private static End end(Task task, String what, String verb, Map<String, Object> more) {
            var fields = new LinkedHashMap<>(more);
            fields.put("token", task.token());
            return new End(task, what, Json.write(Map.of("task", task.id(), verb, fields)), null);
        }

        /**
         * Returns the end of a task whose end was refused, because it is too large or out of range: the attempt
         * failed. Else the task would be claimed until its timeout.
         */
        private static End refused(End end, String why) {
            LOG.log(System.Logger.Level.WARNING, end.what + " of task " + end.task.id() + ": " + why);
            var error = "its " + end.what + " was refused: " + why;
            return end(end.task, null, "release", Map.of("error", error.substring(0, Math.min(error.length(), 2000))));
        }

        /** Tells how tasks ended, and claims others in the same request, until all is told. */
        private void tell() {
            while (true) {
                List<End> some;
                int free;
                synchronized (lock) {
                    some = nextEnds();
                    if (some.isEmpty()) {
                        telling = false;
                        lock.notifyAll();
                        return;
                    }
                    free = ask();
                }
                start(next(some, free), free);
            }
        }

        /** Returns ends that one request can tell, none if all are told. */
        private List<End> nextEnds() {
            var some = new ArrayList<End>();
            for (int size = 0; !ends.isEmpty() && some.size() < MOST; ) {
                size += ends.peek().text.length();
                if (!some.isEmpty() && size > MOST_TOLD) break;
                some.add(ends.poll());
            }
            return some;
        }

        /** Tells ends, and returns up to limit further tasks. */
        private List<Task> next(List<End> some, int limit) {
            try {
                var told = report(some, limit);
                for (int i = 0; i < some.size(); i++) {
                    var answer = told.answers.get(i);
                    var code = (String) answer.get("code");
                    if (code != null) judge(some.get(i), Failure.of(200, code, code, (String) answer.getOrDefault("detail", "")));
                }
                return told.tasks;
            } catch (Unavailable | SessionClosed e) {
                some.forEach(end -> LOG.log(System.Logger.Level.WARNING, "task " + end.task.id() + ": " + e.getMessage()));
            } catch (RuntimeException e) {
                if (some.size() == 1) judge(some.get(0), e);
                else some.forEach(end -> next(List.of(end), 0)); // one of them is refused, and none is told
            }
            return List.of();
        }

        /** Looks at the error with which an end was refused. */
        private void judge(End end, RuntimeException e) {
            if (e instanceof StaleClaim) {
                LOG.log(System.Logger.Level.INFO, "task " + end.task.id() + " was taken away");
            } else if (end.what == null) {
                LOG.log(System.Logger.Level.WARNING, "task " + end.task.id() + ": " + e.getMessage());
            } else {
                synchronized (lock) { ends.add(end.plain != null ? end.plain : refused(end, e.toString())); }
            }
        }

        /**
         * Tells ends. Repeats that while the coordinator cannot be reached: after a restart the session has the
         * tasks again.
         */
        private Told report(List<End> some, int limit) {
            var key = UUID.randomUUID().toString();
            while (true) {
                try {
                    try {
                        return session.next(some, limit, key);
                    } catch (SessionClosed e) {
                        reopen();
                        return session.next(some, limit, key);
                    }
                } catch (Unavailable e) {
                    LOG.log(System.Logger.Level.WARNING, "task " + some.get(0).task.id() + ": retrying: " + e.getMessage());
                    try {
                        if (ended.await(1, TimeUnit.SECONDS)) throw e;
                    } catch (InterruptedException interrupted) {
                        throw e;
                    }
                }
            }
        }

        /** Gives handlers time to finish, and hands back the tasks of the others. */
        private void finish() throws InterruptedException {
            unfinished().forEach(task -> task.draining = true);
            long end = System.nanoTime() + drain.toNanos();
            synchronized (lock) {
                for (long left; (telling || !running.isEmpty()) && (left = (end - System.nanoTime()) / 1_000_000) > 0; ) lock.wait(left);
            }
            for (var task : unfinished()) {
                try {
                    task.handBack(0);
                } catch (Failure e) {
                    LOG.log(System.Logger.Level.INFO, "task " + task.id() + ": " + e.getMessage());
                }
                interrupt(task);
            }
        }
    }

    /**
     * A coordinator for a program's own tests, with a folder that is removed at its end:
     *
     * <pre>{@code
     * try (var coordinator = Leasehold.TestCoordinator.start()) {
     *     var client = coordinator.client();
     * }
     * }</pre>
     */
    public static final class TestCoordinator implements AutoCloseable {
        public final String url;
        private final Process process;
        private final Path folder;

        private TestCoordinator(Process process, Path folder, String url) {
            this.process = process;
            this.folder = folder;
            this.url = url;
        }

        /** Starts leasehold in the path. */
        public static TestCoordinator start() throws IOException, InterruptedException { return start("leasehold"); }

        /** Starts a program, and returns when it is ready. */
        public static TestCoordinator start(String program) throws IOException, InterruptedException {
            var folder = Files.createTempDirectory("leasehold-");
            var command = new ProcessBuilder(program, "coordinator", "--data", folder.toString(), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0");
            var log = folder.resolve("log");
            var process = command.redirectErrorStream(true).redirectOutput(log.toFile()).start();
            for (long end = System.nanoTime() + 60_000_000_000L; process.isAlive() && System.nanoTime() < end; Thread.sleep(20)) {
                try {
                    var address = (Map<?, ?>) Json.read(Files.readString(folder.resolve("coordinator.json")));
                    var started = new TestCoordinator(process, folder, "http://" + address.get("http"));
                    if (((HttpURLConnection) new URL(started.url + "/readyz").openConnection()).getResponseCode() == 200) return started;
                } catch (IOException | IllegalArgumentException notYet) {
                    LOG.log(System.Logger.Level.DEBUG, "not ready: " + notYet);
                }
            }
            var printed = Files.readString(log);
            new TestCoordinator(process, folder, "").close();
            throw new IOException(program + " coordinator did not start: " + printed);
        }

        public Leasehold client() { return new Leasehold(url); }

        @Override public void close() throws IOException, InterruptedException {
            process.destroy();
            process.waitFor();
            try (var files = Files.walk(folder)) {
                for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
            }
        }
    }

    /** Breaks off a request of another thread. */
    private static final class Stop {
        private boolean stopped; // guarded by this, as what follows
        private HttpURLConnection call;

        synchronized boolean stopped() { return stopped; }

        synchronized void began(HttpURLConnection call) throws IOException {
            if (stopped) throw new IOException("stopped");
            this.call = call;
        }

        synchronized void ended(HttpURLConnection call) {
            if (this.call == call) this.call = null; // another request may use its connection next
        }

        synchronized void stop() {
            stopped = true;
            if (call != null) call.disconnect();
        }
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) { // it has a name that no resolver knows
            return e.getMessage().replaceAll(":.*", "");
        }
    }

    private static final long PATIENT = Long.MAX_VALUE; // a call that goes on over an outage, as far as OUTAGE

    private Map<String, Object> patiently(String path, Object body, String key) {
        return request("POST", path, body, key == null ? UUID.randomUUID().toString() : key, null, PATIENT);
    }

    private Map<String, Object> post(String path, Object body, String key, Stop stop, int within) {
        return request("POST", path, body, key == null ? UUID.randomUUID().toString() : key, stop, 0, within);
    }

    // end is when a call that goes on over an outage ends at the latest, by System.nanoTime; 0: it does not go on.
    private Map<String, Object> request(String method, String path, Object body, String key, Stop stop, long end) {
        return request(method, path, body, key, stop, end, TIMEOUT);
    }

    // within is how many milliseconds each of several coordinators has to answer.
    private Map<String, Object> request(String method, String path, Object body, String key, Stop stop, long end, int within) {
        if (key != null && !KEY.matcher(key).matches()) {
            throw new Invalid(0, "invalid", "invalid", "key \"" + key + "\": want 1 to 128 visible characters of ASCII");
        }
        long began = System.nanoTime(), outage = OUTAGE * 1_000_000_000L;
        boolean patient = end != 0 && answered, sent = false;
        var left = inOrder(); // the coordinators that were not asked since the latest pause
        Unavailable told = null; // by those that were: rather not that one stands by
        for (int tries = 1; ; ) {
            var at = left.remove(0);
            try {
                var answer = once(at, method, path, body, key, stop, Math.min(within, TIMEOUT));
                answered = true;
                first = at;
                return answer;
            } catch (Unavailable e) {
                sent |= e.happened == null;
                if (told == null || e.owner == null) told = e;
                boolean ends = stop != null && stop.stopped() || Thread.currentThread().isInterrupted();
                if (!ends && !left.isEmpty() && e.code.equals("unavailable")) {
                    if (left.remove(e.owner)) left.add(0, e.owner);
                    continue;
                }
                long now = System.nanoTime();
                boolean goesOn = patient && (e.status == 0 || e.status == 503) && now - began < outage && (end == PATIENT || now < end);
                if (tries >= TRIES && !goesOn || ends) {
                    var outcome = key == null ? "" : sent ? "; it may have happened" : "; it did not happen";
                    throw new Unavailable(told.status, told.code, told.title, told.detail + outcome, sent ? null : false, null);
                }
            }
            try {
                Thread.sleep(Math.min(50L << Math.min(tries, 10), 2000));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Unavailable(0, "unavailable", "unavailable", "interrupted");
            }
            tries++;
            left = inOrder();
            told = null;
        }
    }

    /** Returns the coordinators, from the one that answered last on. */
    private List<String> inOrder() {
        int n = all.indexOf(first);
        var order = new ArrayList<>(all.subList(n, all.size()));
        order.addAll(all.subList(0, n));
        return order;
    }

    // A blocking connection costs a third of java.net.http.HttpClient, which passes each request through three threads.
    private Map<String, Object> once(String at, String method, String path, Object body, String key, Stop stop, int within) {
        var base = at + "/api/v1";
        int status;
        String text;
        boolean connected = false;
        var sent = body == null ? null : (body instanceof Text json ? json.json() : Json.write(body)).getBytes(StandardCharsets.UTF_8);
        try {
            var connection = (HttpURLConnection) new URL(base + path).openConnection();
            if (stop != null) stop.began(connection);
            try {
                connection.setConnectTimeout(all.size() > 1 ? CONNECT_NEXT : CONNECT);
                connection.setReadTimeout(all.size() > 1 ? within : TIMEOUT);
                prepare(connection, method, key);
                connection.connect();
                connected = true; // what fails from here on may have been sent
                if (method.equals("POST")) {
                    try (var out = connection.getOutputStream()) {
                        if (sent != null) out.write(sent);
                    }
                }
                status = connection.getResponseCode();
                text = read(connection, status);
            } finally {
                if (stop != null) stop.ended(connection);
            }
            if (status < 0) throw new IOException("the answer has no status");
        } catch (IOException | RuntimeException e) { // a connection that another thread breaks off throws a NullPointerException at times
            if (e instanceof RuntimeException given && !connected && (stop == null || !stop.stopped())) throw given; // such as a token of two lines
            if (isDistrust(e)) throw new Unauthenticated(0, "unauthenticated", "unauthenticated", base + ": " + e.getMessage());
            boolean stopped = stop != null && stop.stopped();
            throw new Unavailable(0, "unavailable", "unavailable", method + " " + base + path + ": " + (stopped ? "stopped" : e), connected ? null : false, null);
        }
        if (status < 300) return object(text);
        Map<String, Object> answer;
        try {
            answer = object(text);
        } catch (IllegalArgumentException e) { // it is a proxy's
            answer = Map.of();
        }
        if (status == 503 && answer.get("owner") instanceof String owner) { // it stands by
            throw new Unavailable(status, "unavailable", "unavailable", (String) answer.getOrDefault("detail", ""), false, owner);
        }
        throw Failure.of(status, (String) answer.getOrDefault("code", OF_PROXIES.getOrDefault(status, "internal")),
            (String) answer.getOrDefault("title", "HTTP " + status), (String) answer.getOrDefault("detail", ""));
    }

    private void prepare(HttpURLConnection connection, String method, String key) throws IOException {
        if (connection instanceof HttpsURLConnection tls && trusted != null) tls.setSSLSocketFactory(trusted);
        connection.setInstanceFollowRedirects(false);
        connection.setUseCaches(false);
        connection.setRequestMethod(method);
        connection.setRequestProperty("Content-Type", "application/json");
        connection.setRequestProperty("Accept", "application/json");
        if (key != null) connection.setRequestProperty("Idempotency-Key", key);
        if (!token.isEmpty()) connection.setRequestProperty("Authorization", "Bearer " + token);
        connection.setDoOutput(method.equals("POST"));
    }

    private static String read(HttpURLConnection connection, int status) throws IOException {
        try (var in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            if (in == null) return "";
            var content = in.readAllBytes();
            long length = connection.getContentLengthLong();
            if (length >= 0 && content.length < length || length < 0 && connection.getHeaderField("Transfer-Encoding") == null && status < 300 && status != 204) {
                throw new IOException("the answer was cut off after " + content.length + " bytes");
            }
            return new String(content, StandardCharsets.UTF_8);
        }
    }

    /** Tells whether a request was not sent because of the certificate of the other side. */
    private static boolean isDistrust(Throwable e) {
        for (; e != null; e = e.getCause()) {
            if (e instanceof CertificateException || e instanceof CertPathValidatorException) return true;
        }
        return false;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> object(String text) {
        return text.stripLeading().startsWith("{") ? (Map<String, Object>) Json.read(text) : Map.of();
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> maps(Object list) { return (List<Map<String, Object>>) list; }

    private static String quote(String text) { return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20"); }

    /** Reads and writes JSON: the JDK has no parser. */
    public static final class Json {
        private final String text;
        private int at;

        private Json(String text) { this.text = text; }

        /** Returns text as Map, List, String, Long, Double, Boolean or null. */
        public static Object read(String text) {
            var json = new Json(text);
            var value = json.value();
            json.space();
            if (json.at < text.length()) throw json.bad();
            return value;
        }

        /**
         * Returns a Map, Iterable, array of objects, text, Number, Boolean, Enum, time, UUID, URI or null as text.
         * Anything else is an IllegalArgumentException, and so are NaN and infinity.
         */
        public static String write(Object value) {
            var out = new StringBuilder();
            write(value, out);
            return out.toString();
        }

        private static void write(Object value, StringBuilder out) {
            if (value instanceof Map<?, ?> map) {
                var comma = "{";
                for (var entry : map.entrySet()) {
                    out.append(comma);
                    write(String.valueOf(entry.getKey()), out);
                    out.append(':');
                    write(entry.getValue(), out);
                    comma = ",";
                }
                out.append(map.isEmpty() ? "{}" : "}");
            } else if (value instanceof Iterable<?> list) {
                out.append('[');
                var comma = "";
                for (var item : list) {
                    out.append(comma);
                    write(item, out);
                    comma = ",";
                }
                out.append(']');
            } else if (value instanceof Object[] array) {
                write(Arrays.asList(array), out);
            } else if (value == null || value instanceof Boolean || value instanceof Number n && Double.isFinite(n.doubleValue())) {
                out.append(value);
            } else if (!(value instanceof CharSequence || value instanceof Character || value instanceof Enum<?>
                || value instanceof java.time.temporal.TemporalAccessor || value instanceof UUID || value instanceof URI)) {
                throw new IllegalArgumentException(value + " of " + value.getClass() + " is no JSON");
            } else {
                out.append('"');
                for (char c : value.toString().toCharArray()) {
                    if (c == '"' || c == '\\') out.append('\\').append(c);
                    else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
                    else out.append(c);
                }
                out.append('"');
            }
        }

        private IllegalArgumentException bad() { return new IllegalArgumentException("JSON: unexpected text at character " + at); }

        private void space() { while (at < text.length() && text.charAt(at) <= ' ') at++; }

        private boolean take(char c) {
            space();
            if (at == text.length() || text.charAt(at) != c) return false;
            at++;
            return true;
        }

        private Object value() {
            if (take('{')) return object();
            if (take('[')) return list();
            if (take('"')) return string();
            int from = at;
            while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0 && text.charAt(at) > ' ') at++;
            var word = text.substring(from, at);
            switch (word) {
                case "true": return true;
                case "false": return false;
                case "null": return null;
            }
            try {
                if (!isWhole(word)) return Double.parseDouble(word);
                if (word.length() > 18) return new BigInteger(word);
                return Long.parseLong(word);
            } catch (NumberFormatException e) {
                throw bad();
            }
        }

        private static boolean isWhole(String word) {
            for (int i = word.startsWith("-") ? 1 : 0; i < word.length(); i++) {
                if (word.charAt(i) < '0' || word.charAt(i) > '9') return false;
            }
            return !word.isEmpty();
        }

        private Map<String, Object> object() {
            var map = new LinkedHashMap<String, Object>();
            if (take('}')) return map;
            do {
                if (!take('"')) throw bad();
                var key = string();
                if (!take(':')) throw bad();
                map.put(key, value());
            } while (take(','));
            if (!take('}')) throw bad();
            return map;
        }

        private List<Object> list() {
            var list = new ArrayList<>();
            if (take(']')) return list;
            do {
                list.add(value());
            } while (take(','));
            if (!take(']')) throw bad();
            return list;
        }

        private String string() {
            var out = new StringBuilder();
            while (at < text.length()) {
                char c = text.charAt(at++);
                if (c == '"') return out.toString();
                if (c != '\\') {
                    out.append(c);
                    continue;
                }
                if (at == text.length()) break;
                c = text.charAt(at++);
                switch (c) {
                    case 'n' -> out.append('\n');
                    case 't' -> out.append('\t');
                    case 'r' -> out.append('\r');
                    case 'b' -> out.append('\b');
                    case 'f' -> out.append('\f');
                    case 'u' -> {
                        if (at + 4 > text.length()) throw bad();
                        out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                        at += 4;
                    }
                    default -> out.append(c);
                }
            }
            throw bad();
        }
    }
}
