import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.Executors;
import leasehold.Leasehold;

/**
 * A web server whose handler creates tasks: java Web PORT [URL of the coordinator]. Work does them.
 *
 * <pre>
 * curl -d 'so it goes' localhost:8000/counts      {"id":"t1"}
 * curl localhost:8000/counts/t1                   {"result":3,"state":"resolved"}
 * </pre>
 */
public final class Web {
    private static Leasehold client;

    public static void main(String[] args) throws IOException {
        client = args.length > 1 ? new Leasehold(args[1]) : new Leasehold();
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/counts", exchange -> answer(exchange, Web::create));
        server.createContext("/counts/", exchange -> answer(exchange, Web::show));
        server.start();
    }

    private record Answer(int status, Object body) {}

    private interface Page {
        Answer of(HttpExchange exchange) throws IOException;
    }

    private static Answer create(HttpExchange exchange) throws IOException {
        // A browser or a proxy that repeats its request with this header creates one task.
        var key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        var text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        return new Answer(202, Map.of("id", client.create("count", Map.of("text", text), Map.of(), key).id()));
    }

    private static Answer show(HttpExchange exchange) {
        var task = client.get(exchange.getRequestURI().getPath().substring("/counts/".length()));
        return new Answer(200, task.result() == null ? Map.of("state", task.state()) : Map.of("state", task.state(), "result", task.result()));
    }

    private static void answer(HttpExchange exchange, Page page) throws IOException {
        try (exchange) {
            Answer answer;
            try {
                answer = page.of(exchange);
            } catch (Leasehold.Failure e) {
                answer = new Answer(e.status == 0 ? 503 : e.status, Map.of("error", e.detail));
            }
            send(exchange, answer);
        }
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        var json = Leasehold.Json.write(answer.body()).getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(answer.status(), json.length);
        exchange.getResponseBody().write(json);
    }
}
