// A worker in Java without any library: it claims tasks of an action from a coordinator,
// does them, and puts their results. Run it with
//
//     java Worker.java HOST:PORT ACTION COUNT
//
// at a coordinator with --gate pspace=HOST:PORT,write. See docs/interop.md.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Worker {
    /** The type and the value of each field of a tuple in an answer; strings are without escapes here. */
    static final Pattern FIELD = Pattern.compile("\\{\"type\":\"([^\"]*)\",\"value\":(\"(?:[^\"\\\\]|\\\\.)*\"|[^,}]*)\\}");

    final BufferedReader in;
    final Writer out;
    int session;

    Worker(Socket socket) throws IOException {
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
        out = new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8);
    }

    static String value(String type, Object value) {
        String json = value instanceof String ? "\"" + ((String) value).replace("\\", "\\\\").replace("\"", "\\\"") + "\"" : value.toString();
        return "{\"type\":\"pspace:" + type + "\",\"value\":" + json + "}";
    }

    static String actual(String type, Object value) {
        return "{\"formal\":false,\"value\":" + value(type, value) + "}";
    }

    static String formal(String type) {
        return "{\"formal\":true,\"value\":\"pspace:" + type + "\"}";
    }

    /** Sends a request and returns the answer, whose status must be true. */
    String call(String members) throws IOException {
        out.write("{\"clientSession\":\"" + session++ + "\"," + members + "}\n");
        out.flush();
        String answer = in.readLine();
        if (answer == null || !answer.contains("\"status\":true")) {
            throw new IOException("answer: " + answer);
        }
        return answer;
    }

    void work(String action) throws IOException {
        String answer = call("\"messageType\":\"GET_REQUEST\",\"target\":\"task\",\"blocking\":true,\"template\":["
            + String.join(",", actual("string", "task"), actual("string", action), formal("string"), formal("string"), formal("long"), formal("long"), formal("string")) + "]");
        List<String> fields = new ArrayList<>();
        for (Matcher m = FIELD.matcher(answer); m.find();) {
            fields.add(m.group(2).replaceAll("^\"|\"$", ""));
        }
        String id = fields.get(2);
        long token = Long.parseLong(fields.get(4));
        call("\"messageType\":\"PUT_REQUEST\",\"target\":\"result\",\"tuple\":["
            + String.join(",", value("string", "result"), value("string", action), value("string", "java"), value("string", id), value("string", ""),
                value("long", token), value("string", "duke"), value("boolean", true), value("string", "\"done by Java\"")) + "]");
    }

    public static void main(String[] args) throws IOException {
        String[] address = args[0].split(":");
        try (Socket socket = new Socket(address[0], Integer.parseInt(address[1]))) {
            socket.setTcpNoDelay(true);
            Worker worker = new Worker(socket);
            int count = Integer.parseInt(args[2]);
            for (int i = 0; i < count; i++) {
                worker.work(args[1]);
            }
            System.out.println(count + " tasks done");
        }
    }
}
