package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

// FuzzArguments runs a command line, one argument a line, on standard input. The command ends with status 0, 1 or 2.
// An error is one line, the last of standard error; wrong usage prints no rows and makes no file.
func FuzzArguments(f *testing.F) {
	f.Add("", "")
	for _, sql := range []string{"SELECT 1", "SELECT 1; SELECT", "SELECT dx_value('ana', 3, 1, 'u')", "CREATE TABLE t(a); INSERT INTO t VALUES (1); SELECT * FROM t", "SELEC 1", "\x00", "SELECT x'00', NULL, 1e300, '\x1b[2J'"} {
		f.Add("x.db\n"+sql, "")
		f.Add("x.db\n-csv", sql+";\n.tables\n")
	}
	for _, c := range program.Commands() {
		f.Add(c.Name, "")
		f.Add(c.Name+"\n--help", "")
		f.Add(c.Name+"\nx.db\nt\ndata.csv", "a,b\n1,2\n")
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		c.Setup(fs)
		fs.VisitAll(func(of *flag.Flag) {
			f.Add(c.Name+"\nx.db\n--"+of.Name+"=1\n-"+of.Name, "")
		})
	}
	f.Fuzz(func(t *testing.T, line, input string) {
		args := strings.Split(line, "\n")
		if reachesOut(line + input) {
			return
		}
		fuzztest.Limit(t, 30*time.Second)
		folder := t.TempDir()
		t.Chdir(folder)
		if err := os.WriteFile("data.csv", []byte("person,lat,lon,kwh\nana,39.9,116.3,1\nbo,,,2\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		status, out, errOut := mainOn(t, args, input)
		last := strings.TrimSuffix(errOut[strings.LastIndex(strings.TrimSuffix(errOut, "\n"), "\n")+1:], "\n")
		switch {
		case status < 0 || status > 2:
			t.Errorf("%q: status %d, %q", args, status, errOut)
		case strings.Contains(errOut, "internal error") || strings.Contains(errOut, "runtime error"):
			t.Errorf("%q: %q", args, errOut)
		case status > 0 && (!strings.HasPrefix(last, "geosql: ") || !strings.HasSuffix(errOut, "\n")):
			t.Errorf("%q: status %d, and says %q", args, status, errOut)
		case status == 2 && (out != "" || strings.Count(errOut, "\n") != 1):
			t.Errorf("%q: wrong usage prints %q and %q", args, out, errOut)
		}
		if left, _ := filepath.Glob("*"); status == 2 && len(left) > 1 {
			t.Errorf("%q: wrong usage makes %q", args, left)
		}
	})
}

// reachesOut reports whether a command may do more than a test should: listen, wait for long, ask a network, or write
// outside the folder that it is in.
func reachesOut(text string) bool {
	lower := strings.ToLower(text)
	for _, part := range []string{"serve", "demo", "audit", "worker", "/", "..", "~", "recursive", "zeroblob", "postgres", "\x00"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

// mainOn runs the command in this process and returns its status and its output.
func mainOn(t testing.TB, args []string, input string) (status int, out, errOut string) {
	standard := []**os.File{&os.Stdin, &os.Stdout, &os.Stderr}
	var files []*os.File
	for i, s := range standard {
		file, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if i == 0 {
			io.WriteString(file, input)
			file.Seek(0, io.SeekStart)
		}
		before := *s
		defer func() { *s = before }()
		*s, files = file, append(files, file)
	}
	status = program.Main(args)
	var written [2]string
	for i := range written {
		text, err := os.ReadFile(files[1+i].Name())
		if err != nil {
			t.Fatal(err)
		}
		written[i] = string(text)
	}
	return status, written[0], written[1]
}
