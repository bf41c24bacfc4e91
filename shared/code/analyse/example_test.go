package analyse_test

import (
	"context"
	"fmt"

	"leasehold/shared/code"
	"leasehold/shared/code/analyse"
)

func Example() {
	a := analyse.New("") // without ctags
	defer a.Close()
	content := []byte("package main\n\nfunc main() {\n\tif x := f(); x > 0 {\n\t\tprint(x)\n\t}\n}\n")
	b, _ := a.Blob(context.Background(), "cmd/main.go", code.OIDOf(content), content)
	fmt.Println(b.Lang, b.Lines, "lines,", b.Code, "of code")
	for _, f := range b.Functions {
		fmt.Printf("%s in line %d: A %d, B %d, C %d, score %.2f\n", f.Function, f.Line, f.A, f.B, f.C, f.Score)
	}
	// Output:
	// Go 7 lines, 6 of code
	// main in line 3: A 1, B 2, C 1, score 2.45
}
