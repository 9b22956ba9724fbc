package keeper

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/serve/internal/monitor"
	"github.com/geosql/geosql/serve/internal/pipe"
	"github.com/geosql/geosql/serve/internal/role"
	"github.com/geosql/geosql/serve/internal/wire"
	"github.com/geosql/geosql/serve/internal/worker"
)

// hostile is a worker under an attacker's control. how names the attack.
func hostile(how string) int {
	stream := pipe.Inherited()
	conn := pipe.NewConn(stream)
	if _, _, err := conn.Read(); err != nil {
		return 1
	}
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "garbage first":
		stream.Out.WriteString("GET / HTTP/1.1\r\n\r\n")
		time.Sleep(time.Hour)
	case "exits first":
		fmt.Fprintln(os.Stderr, "this is why")
		return 3
	case "answers first":
		conn.SendJSON(pipe.Prepared, pipe.Statement{})
		time.Sleep(time.Hour)
	}
	conn.SendJSON(pipe.Started, pipe.Start{})
	if how == "does not read" {
		time.Sleep(time.Hour)
	}
	for {
		kind, frame, err := conn.Read()
		if err != nil {
			return 0
		}
		attack(how, conn, stream, kind, append([]byte{}, frame...))
	}
}

// attack answers a request, and attacks with some answers.
func attack(how string, conn *pipe.Conn, stream *pipe.Ends, kind pipe.Type, frame []byte) {
	group := func(number uint32, flags byte) []byte {
		return pipe.AppendGroup(pipe.Begin(nil, pipe.Group), pipe.GroupHeader{Number: number, Flags: flags,
			CallHeader: pipe.CallHeader{Function: "dx_sum", Args: 2}})
	}
	batch := func(count uint32, done bool, rows string) {
		h := pipe.BatchHeader{Count: count, Status: wire.Idle, Done: done, Tag: "SELECT "}
		if how == "bad status" {
			h.Status = 'X'
		}
		conn.Send(pipe.EndBatch(append(pipe.BeginBatch(nil), rows...), h))
	}
	switch kind {
	case pipe.Prepare:
		switch how {
		case "calls in prepare":
			conn.Send(pipe.AppendCall(pipe.Begin(nil, pipe.Call), "dx_value", 0))
		case "garbage JSON":
			conn.Send(append(pipe.Begin(nil, pipe.Prepared), "{{{"...))
		case "answers another":
			conn.Send(append(pipe.Begin(nil, pipe.Status), 'I'))
		case "announces much":
			stream.Write([]byte{0xff, 0xff, 0xff, 0xff, byte(pipe.Prepared)})
		case "announces and waits":
			stream.Write([]byte{0, 15, 0, 0, byte(pipe.Prepared), 1, 2, 3})
		case "floods":
			for {
				if conn.SendJSON(pipe.Notice, wire.Error{Message: strings.Repeat("x", 1000)}) != nil {
					os.Exit(0)
				}
			}
		case "hangs":
			return
		case "exits":
			os.Exit(7)
		case "closes":
			stream.Close()
			time.Sleep(time.Hour)
		default:
			conn.SendJSON(pipe.Prepared, pipe.Statement{Columns: []wire.Column{{Name: "n", OID: wire.OIDInt8}}})
			return
		}
	case pipe.Query, pipe.Fetch:
		if kind == pipe.Query {
			conn.SendJSON(pipe.Queried, pipe.Execution{Free: strings.HasPrefix(how, "free")})
		}
		switch how {
		case "free one that calls":
			conn.Send(pipe.AppendCall(pipe.Begin(nil, pipe.Call), "dx_value", 0))
		case "free one that calls ahead":
			batch(1, false, "n")
			conn.Send(pipe.AppendCall(pipe.Begin(nil, pipe.Call), "dx_value", 0))
		case "free one without an end":
			if kind == pipe.Query {
				batch(1, false, "n")
			}
		case "bad failure":
			conn.Send(append(pipe.Begin(nil, pipe.Failed), `X{"Code":"22012"}`...))
		case "unknown group":
			conn.Send(group(5, 0))
		case "final of nothing":
			conn.Send(group(1, pipe.GroupEnds))
		case "group without arguments":
			conn.Send(pipe.AppendGroup(pipe.Begin(nil, pipe.Group), pipe.GroupHeader{Number: 1, Flags: pipe.GroupBegins}))
		case "begins twice":
			conn.Send(group(1, pipe.GroupBegins))
			conn.Send(group(1, pipe.GroupBegins))
		case "many groups":
			for n := uint32(1); n < 5000; n++ {
				if conn.Send(group(n, pipe.GroupBegins)) != nil {
					os.Exit(0)
				}
			}
		case "argument of nothing":
			conn.Send(append(group(1, pipe.GroupBegins), "=="...))
		case "argument of no kind":
			conn.Send(append(group(1, pipe.GroupBegins), "?x"...))
		case "many arguments":
			conn.Send(append(append(pipe.Begin(nil, pipe.Call), 200), 1, 'f'))
		case "tells calls":
			conn.Send(pipe.AppendBytes(pipe.Begin(nil, pipe.Calls), pipe.AppendCall(nil, "dx_value", 0)))
		case "no rows":
			batch(0, false, "")
		case "too few rows":
			batch(9, true, "")
		case "too many rows":
			batch(1, true, "nnn")
		case "value of no kind":
			batch(1, true, "?")
		case "long value":
			batch(1, true, "s\xff\xff\xff\xff\xff\xff\xff\xff\x7f")
		case "failed without an error":
			conn.Send(pipe.EndBatch(append(pipe.BeginBatch(nil), 'n'), pipe.BatchHeader{Count: 1, Status: wire.Idle, Failed: true}))
			conn.SendJSON(pipe.Prepared, pipe.Statement{})
		case "endless rows":
			batch(1000, false, strings.Repeat("n", 1000))
		case "endless calls":
			for {
				frame := pipe.AppendCall(pipe.Begin(nil, pipe.Call), "dx_value", 0)
				if conn.Send(frame) != nil {
					os.Exit(0)
				}
				if _, _, err := conn.Read(); err != nil {
					os.Exit(0)
				}
			}
		default:
			batch(1, true, "n")
		}
	}
}

// A worker that was taken over costs its own session, and nothing of the keeper.
func TestHostileWorkers(t *testing.T) {
	if e := emulate.Emulator(); e != "" {
		t.Skipf("a worker has a second to start, and takes longer under %s", e)
	}
	s := newSite(t, nil)
	good := s.session()
	s.addRole(func(r *role.Role) { r.Timeout = 300 * time.Millisecond })
	before := s.spent("ana")
	for _, how := range []string{
		"silent", "garbage first", "exits first", "answers first", "does not read",
		"calls in prepare", "garbage JSON", "answers another", "announces much",
		"announces and waits", "floods", "hangs", "exits", "closes",
		"unknown group", "final of nothing", "group without arguments", "begins twice", "many groups", "argument of nothing",
		"argument of no kind", "many arguments", "tells calls", "no rows", "too few rows", "too many rows", "value of no kind", "long value",
		"failed without an error", "free one that calls", "free one that calls ahead", "free one without an end", "bad failure", "endless rows", "endless calls", "bad status",
	} {
		t.Run(how, func(t *testing.T) {
			s.setWorker("hostile", how)
			s.options.Grace, s.options.Start = 100*time.Millisecond, time.Second
			if strings.HasPrefix(how, "exits") { // which the log has to say, however slow the machine is
				s.options.Grace, s.options.Start = patience, patience
			}
			began := time.Now()
			x, err := s.begin()
			if err == nil {
				_, err = x.query("SELECT n FROM t " + strings.Repeat(" ", 999_000)) // more than the pipe holds
				if how != "endless rows" && err == nil {
					t.Error("no error")
				}
				x.Ready(err != nil)
				if _, err := x.query("SELECT 1"); err == nil && how != "endless rows" {
					t.Error("the session goes on")
				}
				pid := x.worker.cmd.Process.Pid
				x.Close()
				select {
				case <-x.worker.exited:
				case <-time.After(patience):
					t.Errorf("process %d goes on", pid)
				}
			}
			if err != nil {
				var e *wire.Error
				if !asWire(err, &e) || e.Code != "57P01" && e.Code != "57014" && e.Code != "58000" && e.Code != "22023" {
					t.Errorf("the error is %s", describe(err))
				}
			}
			if took := time.Since(began); took > patience {
				t.Errorf("it took %v", took)
			}
			if len(good.groups) > 0 {
				t.Error("another session has its groups")
			}
		})
	}
	s.setWorker("worker")
	s.addRole(func(*role.Role) {})
	good.want("SELECT 1")
	if s.spent("ana") != before {
		t.Error("somebody was charged")
	}
	for _, part := range []string{"this is why", "exit status 3", "exit status 7", "it broke the protocol", "it did not stop"} {
		if !strings.Contains(s.log.String(), part) {
			t.Errorf("the log does not say %q", part)
		}
	}
	killed := 0
	for _, reason := range s.events.reasons() {
		if reason == monitor.WorkerKilled {
			killed++
		}
	}
	if killed < 10 {
		t.Errorf("%d workers were killed", killed)
	}
}

func asWire(err error, e **wire.Error) bool {
	for _, part := range strings.Fields(describe(err)) {
		if code := strings.TrimSuffix(part, ":"); len(code) == 5 && code != part {
			*e = &wire.Error{Code: code}
			return true
		}
	}
	return false
}

// A worker ends when its keeper does, also if it is busy.
func TestWorkersEndWithTheirKeeper(t *testing.T) {
	ours, theirs, err := pipe.Pair()
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, nil)
	cmd := self("worker")()
	cmd.ExtraFiles = []*os.File{theirs.In, theirs.Out}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	conn := pipe.NewConn(ours)
	conn.SendJSON(pipe.Configure, worker.Config{Path: s.path, Database: "homes", User: "ann"})
	if kind, frame, err := conn.Read(); err != nil || kind != pipe.Started {
		t.Fatalf("%c %s %v", kind, frame, err)
	}
	conn.Send(pipe.AppendPrepare(pipe.Begin(nil, pipe.Prepare), 1, 1, nil, endless))
	conn.Read()
	frame, _ := pipe.AppendQuery(pipe.Begin(nil, pipe.Query), 2, 1, pipe.FetchRequest{Rows: 1, Bytes: 1}, false, nil)
	conn.Send(frame)
	time.Sleep(50 * time.Millisecond)
	ours.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		cmd.Process.Signal(syscall.SIGQUIT)
		<-ended
		t.Errorf("the worker goes on:\n%s", &stderr)
	}
}

func TestWorkerAlone(t *testing.T) {
	cmd := self("worker")()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "geosql serve") {
		t.Errorf("%v: %s", err, out)
	}
}
