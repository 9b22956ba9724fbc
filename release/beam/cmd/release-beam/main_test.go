package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/geosql/geosql/internal/cli/clitest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) { clitest.Main(m, programName, main) }

// secrets is a spec file, and secretWords are the words of it that must not leave the workers.
const secrets = `{
  "in": "/office/raw/trips.csv", "out": "/office/public/walks.csv",
  "ledger": "postgres://clerk@db.office.example:6543/budgets?sslmode=verify-full", "shards": 17,
  "account": "pseudonym", "lat": "breitengrad", "lon": "laengengrad", "keep": ["zweck"],
  "epsilon": 0.00271828, "domain": [48.80, 2.22, 48.91, 2.48, 1.25], "limit": 0.0314159, "id": "herbst"
}`

var secretWords = []string{
	"/office/raw", "trips.csv", "walks.csv", "postgres", "clerk", "db.office", ":6543", "budgets", "verify-full",
	"pseudonym", "breitengrad", "laengengrad", "zweck", "0.00271828", "271828", "48.8", "2.22", "1.25", "314159", "herbst",
}

// writeSpec writes a spec file and returns its path.
func writeSpec(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "walk-spec.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A jobServer is the server of a runner that looks at jobs and refuses them.
type jobServer struct {
	jobpb.UnimplementedJobServiceServer
	got *jobpb.PrepareJobRequest
}

func (s *jobServer) Prepare(_ context.Context, job *jobpb.PrepareJobRequest) (*jobpb.PrepareJobResponse, error) {
	s.got = job
	return nil, status.Error(codes.Unavailable, "seen enough")
}

// submit returns the job that the command submits, with all options, to a server of its own.
func submit(t *testing.T, args ...string) *jobpb.PrepareJobRequest {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	jobs, server := &jobServer{}, grpc.NewServer()
	jobpb.RegisterJobServiceServer(server, jobs)
	go server.Serve(listener)
	defer server.Stop()
	r := clitest.Run(t, "", append(args, "--endpoint="+listener.Addr().String(), "--environment_type=LOOPBACK")...)
	if r.Status != 1 || jobs.got == nil || !strings.Contains(r.Err, "seen enough") {
		t.Fatalf("status %d, %s", r.Status, r.Err)
	}
	return jobs.got
}

// A job shows the path of the spec file and the number of shards, and nothing of
// the file's contents.
func TestJobHoldsNoSecret(t *testing.T) {
	path := writeSpec(t, secrets)
	for _, runner := range []string{"flink", "spark", "prism"} {
		job := submit(t, "--runner="+runner, "--spec="+path)
		text, err := proto.Marshal(job)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, fmt.Sprint(job.GetPipelineOptions())...)
		seen := layers(text)
		for _, word := range secretWords {
			if holds(seen, word) {
				t.Errorf("%s: the job holds %s", runner, word)
			}
		}
		for _, word := range []string{path, `"Shards":17`} { // the search finds words that are there
			if !holds(seen, word) {
				t.Errorf("%s: the search does not find %s", runner, word)
			}
		}
	}
}

// layers returns a text, and the texts encoded in it in base64, and so on.
func layers(text []byte) [][]byte {
	all := [][]byte{text}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
	for _, run := range bytes.FieldsFunc(text, func(r rune) bool { return r > 127 || !strings.ContainsRune(digits, r) }) {
		for skip := range min(4, len(run)) { // a digit before the run may belong to something else
			part := run[skip:]
			if len(part)%4 == 1 {
				part = part[:len(part)-1]
			}
			if len(part) < 8 {
				continue
			}
			if plain, err := base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(string(part))); err == nil {
				all = append(all, layers(plain)...)
			}
		}
	}
	return all
}

func holds(layers [][]byte, word string) bool {
	for _, text := range layers {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// The search finds its words in a job that leaks them, however deep.
func TestSearchFindsLeaks(t *testing.T) {
	inner := base64.StdEncoding.EncodeToString([]byte(`{"ledger":"postgres://clerk@h"}`))
	for _, text := range []string{"xx postgres://clerk", "\x01" + inner, base64.StdEncoding.EncodeToString([]byte("\x00\xff|" + inner + "|"))} {
		if !holds(layers([]byte(text)), "clerk") {
			t.Errorf("%q was not searched", text)
		}
	}
}

// The numbers of the most shards fit into a message of a job server, which takes 4 MB.
func TestJobOfManyShards(t *testing.T) {
	path := writeSpec(t, strings.Replace(secrets, `"shards": 17`, `"shards": 100000`, 1))
	if n := proto.Size(submit(t, "--runner=flink", "--spec="+path)); n > 3<<20 {
		t.Errorf("the job has %d bytes", n)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"-h"}, {"--help"}, {"help"}} {
		r := clitest.Run(t, "", args...)
		if r.Status != 0 || r.Err != "" || !strings.HasPrefix(r.Out, programName+": ") {
			t.Errorf("%v: status %d, %s%s", args, r.Status, r.Out, r.Err)
		}
		lines := strings.Split(r.Out, "\n")
		if len(lines) > 60 {
			t.Errorf("the help has %d lines", len(lines))
		}
		for _, line := range lines {
			if len(line) > 100 {
				t.Errorf("long: %s", line)
			}
		}
	}
	if r := clitest.Run(t, "", "--beam-flags"); r.Status != 0 || !strings.Contains(r.Out, "staging_location") {
		t.Errorf("status %d, %s", r.Status, r.Err)
	}
}

// The spec file in the help is one.
func TestHelpShowsASpecFile(t *testing.T) {
	text := help[strings.Index(help, "  {\n"):]
	text = text[:strings.Index(text, "  }\n")+4]
	submit(t, "--runner=flink", "--spec="+writeSpec(t, text))
}

func TestErrors(t *testing.T) {
	good := writeSpec(t, secrets)
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "use --spec FILE"},
		{[]string{"--spec"}, 2, "flag needs an argument"},
		{[]string{"--sepc", good}, 2, "-sepc"},
		{[]string{good}, 2, "only flags"},
		{[]string{"--runner=beam", "--spec", good}, 2, "only prism, direct, flink"},
		{[]string{"--runner=flink", "--spec", good}, 2, "needs --endpoint"},
		{[]string{"--runner=flink", "--endpoint=h:1", "--spec", "walk.json"}, 2, "is relative"},
		{[]string{"--runner=spark", "--endpoint=127.0.0.1:1", "--spec", good}, 1, "cannot reach the job server"},
		{[]string{"--spec", filepath.Join(t.TempDir(), "missing.json")}, 1, "no such file"},
		{[]string{"--spec", writeSpec(t, `{"epsilom": 1}`)}, 1, `did you mean "epsilon"?`},
	} {
		r := clitest.Run(t, "", c.args...)
		if r.Status != c.status || r.Out != "" || strings.Count(r.Err, "\n") != 1 || !strings.HasPrefix(r.Err, programName+": ") || !strings.Contains(r.Err, c.want) {
			t.Errorf("%q: status %d, %s%s, want %d, %s", c.args, r.Status, r.Out, r.Err, c.status, c.want)
		}
	}
}

// The command needs no C compiler: Beam builds it without cgo for its workers, and the SQLite engine
// would be missing there.
func TestBuildsWithoutCgo(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	for _, path := range strings.Fields(run("list", "-deps", ".")) {
		if strings.Contains(path, "go-sqlite3") || strings.HasSuffix(path, "/internal/sqlite") || strings.HasSuffix(path, "/ledger/file") {
			t.Errorf("it imports %s", path)
		}
	}
	if cgo := run("list", "-deps", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}", "."); strings.TrimSpace(cgo) != "" {
		t.Errorf("cgo in %s", cgo)
	}
}
