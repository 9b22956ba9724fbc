package emulate

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// drawing is a program that needs the system's randomness, makes and removes a folder with a file, starts itself
// once and ends with status 3.
const drawing = `package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
)

func main() {
	input, _ := io.ReadAll(os.Stdin)
	drawn := make([]byte, 64)
	rand.Read(drawn)
	fmt.Printf("%s %s %x\n", runtime.GOOS, input, drawn)
	folder, err := os.MkdirTemp("", "")
	if err == nil {
		err = os.WriteFile(folder+"/file", drawn, 0o600)
	}
	if err == nil {
		err = os.RemoveAll(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if len(os.Args) == 1 {
		again := exec.Command(os.Args[0], "again")
		again.Env = []string{}
		again.Stdout = os.Stdout
		if err := again.Run(); err != nil {
			fmt.Fprint(os.Stderr, err)
		}
	}
	os.Exit(3)
}
`

func TestWineRunsProgramsThatDraw(t *testing.T) {
	need.Programs(t, windowsAMD64.Programs()...)
	folder := t.TempDir()
	source, program := filepath.Join(folder, "drawing.go"), filepath.Join(folder, "drawing.exe")
	if err := os.WriteFile(source, []byte(drawing), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", program, source)
	build.Env = windowsAMD64.Environ()
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	run, err := windowsAMD64.Command(t.Context(), program)
	if err != nil {
		t.Fatal(err)
	}
	var standardError strings.Builder
	run.Stdin, run.Stderr = strings.NewReader("question"), &standardError
	output, err := run.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("the program ended with %v, want status 3", err)
	}
	if standardError.String() != "exit status 3" {
		t.Errorf("standard error is %q, want only the status of what the program started", standardError.String())
	}
	words := strings.Fields(string(output))
	if len(words) != 5 || words[0] != "windows" || words[1] != "question" || words[3] != "windows" {
		t.Fatalf("standard output is %q", output)
	}
	if words[2] == words[4] || words[2] == strings.Repeat("00", 64) {
		t.Errorf("both drew %s", words[2])
	}
}
