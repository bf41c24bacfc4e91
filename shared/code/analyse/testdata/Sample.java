package a.b;

/** A class. */
public final class Sample<T> extends Base {
    private int x = 1;

    public Sample(int x) { this.x = x; }

    protected static <K> java.util.List<K> of(K a,
            int b) throws Exception {
        switch (b) { case 1: break; default: }
        try { } catch (Exception e) { }
        return null;
    }

    enum Kind { A, B }

    interface Visitor { void visit(); }
}
