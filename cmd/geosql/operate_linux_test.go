package main

import (
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/doctest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/pgtest"
)

// An operator follows docs/operate.md and the pages of its events with the example of docs/first-server.md, and systemctl is a part
// of the test.
type operator struct {
	*testing.T
	folder   string
	env      []string
	db1, db2 *pgtest.Server // the second one follows the first
	url      string         // of the ledger's database at db1
	both     string         // leads to whichever of the two takes charges
	ledger   string         // of the unit
	serving  *serving
}

// TestFirstServer runs every block of docs/first-server.md.
func TestFirstServer(t *testing.T) {
	t.Parallel()
	need.Programs(t, "psql", "curl")
	o := &operator{T: t, folder: cloneFolder(t), env: append(clitest.Command(t).Env, "PGPASSWORD=open sesame", "PGOPTIONS=")}
	o.read("first-server", "sh", "sh server", "sh drawn", "sh refused")
}

// TestOperating runs every block of docs/operate.md and of the pages that it lists, in their order.
func TestOperating(t *testing.T) {
	t.Parallel()
	need.Programs(t, "psql", "curl")
	o := &operator{T: t, folder: cloneFolder(t), db1: pgtest.Own(t)}
	o.url = o.db1.Database(t)
	o.db2 = o.db1.Standby(t)
	o.db1.CaughtUp(t, o.db2)
	second := o.db2.URL(t, o.url)
	host := func(where string) string {
		u, err := url.Parse(where)
		check(t, err)
		return u.Query().Get("host")
	}
	o.both = strings.Replace(o.url, url.QueryEscape(host(o.url)), url.QueryEscape(host(o.url)+","+host(second)), 1) + "&target_session_attrs=read-write"
	o.env = append(clitest.Command(t).Env, "PATH="+o.folder+":"+filepath.Dir(need.Program(t, "initdb"))+":"+os.Getenv("PATH"),
		"PGPASSWORD=open sesame", "PGOPTIONS=", "GEOSQL_STATE_DIR="+filepath.Join(o.folder, "state"), "DB1="+o.url, "DB2="+second, "LEDGER="+o.both)
	o.read("first-server", "sh") // as far as the role
	for _, page := range []string{"operate", "operate/restarted", "operate/upgraded", "operate/ledger-restored", "operate/to-postgresql",
		"operate/link-lost", "operate/postgresql-restored", "operate/failover", "operate/machine-lost"} {
		o.read(page, "sh", "sh drawn")
	}
}

// read runs the blocks of a page that are in one of some languages.
func (o *operator) read(page string, languages ...string) {
	o.Helper()
	text, err := os.ReadFile("../../docs/" + page + ".md")
	check(o.T, err)
	blocks, err := doctest.Blocks(string(text))
	check(o.T, err)
	for _, b := range blocks {
		if slices.Contains(languages, b.Language) {
			o.follow(page, b)
		}
	}
}

// follow runs a block.
func (o *operator) follow(page string, b doctest.Block) {
	o.Helper()
	if b.Language == "sh server" { // goes on beside the blocks after it
		o.systemctl("start geosql")
		return
	}
	for action, is := strings.CutPrefix(b.Code, "systemctl "); is; action, is = strings.CutPrefix(b.Code, "systemctl ") {
		action, b.Code, _ = strings.Cut(action, "\n")
		o.systemctl(action)
	}
	if o.serving != nil {
		host, port, _ := net.SplitHostPort(o.serving.Address)
		b.Code = strings.NewReplacer("host=127.0.0.1", "host="+host+" port="+port, "127.0.0.1:8080", o.serving.httpAddr).Replace(b.Code)
	}
	follow(o.T, page, o.folder, o.env, b)
}

// systemctl does to the server, or to a PostgreSQL server of the ledger, as the command would.
func (o *operator) systemctl(action string) {
	o.Helper()
	start := func() {
		args := serveArgs("energy.db", "owner.key")
		if o.ledger != "" {
			args = append(args, "--ledger", o.ledger)
		}
		cmd := exec.Command(filepath.Join(o.folder, "geosql"), args...)
		cmd.Dir, cmd.Env = o.folder, o.env
		o.serving = startServer(o.T, cmd)
	}
	stop := func() {
		o.serving.signal(unix.SIGTERM)
		o.serving.end(0)
	}
	switch verb, service, _ := strings.Cut(action, " "); verb + " " + service {
	case "start geosql":
		start()
	case "stop geosql":
		stop()
	case "restart geosql":
		stop()
		start()
	case "kill --signal KILL geosql": // and start it again, as the unit says
		o.serving.signal(unix.SIGKILL)
		<-o.serving.ended
		start()
	case "stop postgresql":
		o.db1.Stop(o.T)
	case "start postgresql":
		o.db1.Restart(o.T)
	default:
		if _, flag, is := strings.Cut(action, "edit geosql # "); is && strings.HasPrefix(flag, "--ledger ") {
			o.ledger = o.both
			return
		}
		o.Fatalf("nothing stands in for systemctl %s", action)
	}
}
