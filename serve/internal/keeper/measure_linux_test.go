package keeper

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/emulate"
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sealed"
	"github.com/geosql/geosql/sqlitefn"
)

// memoryOf returns entries of a process's smaps_rollup in MB: Pss, Private_Dirty and others.
func memoryOf(t testing.TB, pid int) map[string]float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	m := map[string]float64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[2] == "kB" {
			kb, _ := strconv.ParseFloat(fields[1], 64)
			m[strings.TrimSuffix(fields[0], ":")] = kb / 1024
		}
	}
	return m
}

// The memory of an idle session is a goal of 15 MB. That includes the program's text, which all sessions share.
func TestMemoryOfIdleSessions(t *testing.T) {
	if e := emulate.Emulator(); e != "" {
		t.Skipf("the memory of a worker is mostly that of %s", e)
	}
	s := newSite(t, func(o *Options) {
		if path := os.Getenv("GEOSQL_WORKER"); path != "" {
			o.Worker = func() *exec.Cmd { return exec.Command(path, "worker") }
		}
	})
	const sessions = 10
	before := memoryOf(t, os.Getpid())
	var all []*session
	for range sessions {
		x := s.session()
		x.want("SELECT dx_sum(kwh, 0.00001) FROM reading")
		x.Ready(false)
		all = append(all, x)
	}
	time.Sleep(200 * time.Millisecond)
	pss, dirty := 0.0, 0.0
	for _, x := range all {
		m := memoryOf(t, x.worker.cmd.Process.Pid)
		pss += m["Pss"] / sessions
		dirty += m["Private_Dirty"] / sessions
	}
	after := memoryOf(t, os.Getpid())
	t.Logf("a worker: PSS %.1f MB, of its own %.1f MB; the keeper: PSS %.1f MB, %+.2f MB for each session",
		pss, dirty, after["Pss"], (after["Private_Dirty"]-before["Private_Dirty"])/sessions)
	if dirty > 30 {
		t.Errorf("an idle worker has %.1f MB of its own", dirty)
	}
}

// BenchmarkSum compares a sum over sealed values in this process and through a worker.
func BenchmarkSum(b *testing.B) {
	const rows = 200000
	s := &site{t: b}
	s.extra = rows
	s.open(nil)
	perRow := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row") }
	b.Run("here", func(b *testing.B) {
		conn, err := sqlite.Open(s.path, sqlite.ReadWrite)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		if err := sqlitefn.Attach(conn.Handle(), sqlitefn.WithKeyring(sealed.NewKeyring(s.key))); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := conn.Exec("SELECT dx_sum(kwh, 0.000001) FROM reading"); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b)
	})
	x := s.session()
	b.Run("worker", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := x.query("SELECT dx_sum(kwh, 0.000001) FROM reading"); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b)
	})
	b.Run("rows", func(b *testing.B) {
		for b.Loop() {
			st, _, err := x.Compile(b.Context(), "SELECT id, home, hour FROM reading", nil)
			if err != nil {
				b.Fatal(err)
			}
			r, err := st.Run(b.Context(), nil)
			if err != nil {
				b.Fatal(err)
			}
			for more := true; more; {
				if more, err = r.Next(nothing{}); err != nil {
					b.Fatal(err)
				}
			}
			r.Close()
			st.Close()
		}
		perRow(b)
	})
	b.Run("round trip", func(b *testing.B) {
		for b.Loop() {
			x.Ready(false)
		}
	})
	b.Run("select 1", func(b *testing.B) {
		for b.Loop() {
			if _, err := x.query("SELECT 1"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("session", func(b *testing.B) {
		for b.Loop() {
			y, err := s.begin()
			if err != nil {
				b.Fatal(err)
			}
			y.Close()
		}
	})
}

// nothing takes values and drops them.
type nothing struct{}

func (nothing) Null()            {}
func (nothing) Int(int64)        {}
func (nothing) Float(float64)    {}
func (nothing) Bool(bool)        {}
func (nothing) Text(string)      {}
func (nothing) TextBytes([]byte) {}
func (nothing) Bytes([]byte)     {}
