package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/pgtest"
)

// inShards is a publisher of a release in 4 shards, with a ledger on a server.
func inShards(t *testing.T, rows int, url string) publisher {
	t.Helper()
	return newPublisher(t, rows).with("--ledger", url).and("--shards", "4", "--limit", "1000", "--id", "census")
}

// shardText returns the text of a shard.
func (p publisher) shardText(t *testing.T, shard int) string {
	t.Helper()
	text, err := os.ReadFile(p.path(fmt.Sprintf("out-%05d-of-00004.csv", shard)))
	check(t, err)
	return string(text)
}

// wantShards checks that a release of so many rows is there, with nothing else, and charged once.
func (p publisher) wantShards(t *testing.T, url string, rows int) {
	t.Helper()
	lines := 0
	for i := range 4 {
		text := p.shardText(t, i)
		if !strings.HasPrefix(text, "lat,lon\n") {
			t.Errorf("shard %d has no header: %.40q", i, text)
		}
		lines += strings.Count(text, "\n") - 1
	}
	if lines != rows {
		t.Errorf("%d rows, want %d", lines, rows)
	}
	manifest, err := os.ReadFile(p.path("out.csv.manifest.json"))
	check(t, err)
	if !strings.Contains(string(manifest), "out-00003-of-00004.csv") {
		t.Errorf("the manifest is %s", manifest)
	}
	report, err := os.ReadFile(p.path("out.csv.report.html"))
	check(t, err)
	if !strings.Contains(string(report), "</html>") {
		t.Error("the report is not whole")
	}
	all, err := os.ReadDir(p.dir)
	check(t, err)
	if len(all) != 7 {
		t.Errorf("the folder has %v", all)
	}
	p.wantSpent(t, url, rows)
}

// wantSpent checks that so many locations are charged.
func (p publisher) wantSpent(t *testing.T, url string, rows int) {
	t.Helper()
	out := clitest.Query(t, "-csv", "--ledger", url, ":memory:", `SELECT coalesce(round(sum(spent) / 0.01), 0) FROM ledger_balance WHERE account <> '*'`)
	if !strings.HasSuffix(out, fmt.Sprintf("\n%d\n", rows)) {
		t.Errorf("charged %s, want %d locations", out, rows)
	}
}

// The walk of a release in shards, also through PgBouncer.
func TestReleaseInShards(t *testing.T) {
	t.Parallel()
	server := pgtest.Own(t)
	direct := server.Database(t)
	for name, url := range map[string]string{"server": direct, "PgBouncer": ""} {
		t.Run(name, func(t *testing.T) {
			if url == "" {
				url = server.PgBouncer(t, "transaction", server.Database(t))
			}
			p := inShards(t, 400, url)
			clitest.WantError(t, p.with("--limit", "0.01").run(t), 1, "cannot pay")
			p.wantSpent(t, url, 0)
			r := p.run(t, "--shard", "2")
			if r.Status != 0 || !strings.Contains(r.Err, "published shard 2\n") || !strings.Contains(r.Err, "1 of 4 shards are published") {
				t.Fatalf("%+v", r)
			}
			p.wantSpent(t, url, 400)
			first := p.shardText(t, 2)
			r = p.run(t)
			if r.Status != 0 || !strings.Contains(r.Err, "published shards 0, 1, 3\n") || !strings.Contains(r.Err, "in 4 files: 400 rows") {
				t.Fatalf("%+v", r)
			}
			for range 2 {
				p.wantShards(t, url, 400)
				if p.shardText(t, 2) != first {
					t.Error("shard 2 was drawn again")
				}
				r = p.run(t)
				if r.Status != 0 || !strings.Contains(r.Err, "release census has been complete since ") || !strings.Contains(r.Err, "as the 4 files in ") {
					t.Errorf("%+v", r)
				}
			}
			clitest.WantError(t, p.with("--shards", "5").run(t), 1, "has 4 shards")
		})
	}
}

// Rows of an account beyond the first ones are left out of all shards, and cost nothing.
func TestReleaseInShardsMaxRows(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	p := inShards(t, 400, url)
	r := p.run(t, "--max-rows-per-account", "3")
	if r.Status != 0 || !strings.Contains(r.Err, "left out: 250 rows") {
		t.Fatalf("%+v", r)
	}
	p.wantShards(t, url, 150)
}

// Two commands at a time make one release, even if one of them is interrupted and started again.
func TestReleaseInShardsInterrupted(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	var url string
	var p publisher
	stopped := 0
	for try := 0; try < 4 || stopped == 0 && try < 40; try++ {
		round := try % 8
		if round == 0 { // anew, if a busy machine has woken this test only when all was done
			url = pgtest.Start(t).Database(t)
			p = inShards(t, rows, url)
		}
		cmd := clitest.Command(t, p.args...)
		said := new(strings.Builder)
		cmd.Stderr = said
		check(t, cmd.Start())
		time.Sleep(time.Duration(50+100*round) * time.Millisecond)
		check(t, clitest.Signal(cmd.Process, syscall.SIGINT))
		if cmd.Wait() == nil || !cmd.ProcessState.Exited() { // too late, or before the command listened
			continue
		}
		stopped++
		if strings.Count(said.String(), "\n") != 1 || !strings.Contains(said.String(), "interrupted") {
			t.Errorf("got %q", said)
		}
	}
	if stopped == 0 {
		t.Error("no command was interrupted")
	}
	results := make([]clitest.Result, 2)
	var both sync.WaitGroup
	for i := range results {
		both.Go(func() { results[i] = clitest.Run(t, "", p.args...) })
	}
	both.Wait()
	for _, r := range results {
		if r.Status != 0 {
			t.Errorf("%+v", r)
		}
	}
	p.wantShards(t, url, rows)
}
