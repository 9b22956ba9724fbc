package pgcatalog

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/serve/wire"
)

// A front serves one database to one client at a time, as far as the commands of psql need it.
type front struct {
	conn     *sqlite.Conn
	verifier wire.Verifier
}

func (f *front) Login(context.Context, string, string) (wire.Verifier, bool, error) {
	return f.verifier, true, nil
}
func (f *front) NewSession(context.Context, *wire.Login) (wire.Session, error) { return f, nil }
func (f *front) Ready(bool) wire.TxStatus                                      { return wire.Idle }
func (f *front) Close()                                                        {}

func (f *front) Prepare(_ context.Context, sql string, _ []uint32) (wire.Statement, string, error) {
	first, rest := Split(sql)
	text, err := Rewrite(first)
	if err != nil {
		return nil, "", err
	}
	s, _, err := f.conn.Prepare(text)
	if s == nil || err != nil {
		return nil, rest, err
	}
	st := &frontStatement{stmt: s}
	for i := range s.Columns() {
		st.columns = append(st.columns, wire.Column{Name: s.ColumnName(i), OID: typeByName["text"].OID})
	}
	for i, r := range Describe(first, nil).Results() {
		if i < len(st.columns) && r.Type == typeByName["bool"].OID {
			st.columns[i].OID = r.Type
		}
	}
	return st, rest, nil
}

// A frontStatement is a statement, and its rows.
type frontStatement struct {
	stmt    *sqlite.Stmt
	columns []wire.Column
}

func (s *frontStatement) Parameters() []uint32                            { return nil }
func (s *frontStatement) Columns() []wire.Column                          { return s.columns }
func (s *frontStatement) Query(context.Context, []any) (wire.Rows, error) { return frontRows{s}, nil }
func (s *frontStatement) Close()                                          { s.stmt.Close() }

type frontRows struct{ *frontStatement }

func (r frontRows) Copy() *wire.Copy      { return nil }
func (r frontRows) Tag(rows int64) string { return fmt.Sprintf("SELECT %d", rows) }
func (r frontRows) Close()                { r.stmt.Reset() }

func (r frontRows) Next(row *wire.Row) (bool, error) {
	more, err := r.stmt.Step()
	if err != nil || !more {
		return false, err
	}
	for i, c := range r.columns {
		v := r.stmt.Column(i)
		switch x := value(&v).(type) {
		case nil:
			row.Null()
		default:
			if c.OID == typeByName["bool"].OID {
				row.Bool(textOf(x) == "1" || textOf(x) == "t")
			} else {
				row.Text(textOf(x))
			}
		}
	}
	return true, nil
}

// psqlCommands are psql's commands that look into the catalogue, each with what must be in its answer.
var psqlCommands = []struct{ command, want string }{
	{`\d`, "reading"}, {`\d reading`, "kwh|sealed"}, {`\d+ reading`, "sealed"}, {`\d recent`, "home|text"}, {`\da`, ""}, {`\dA`, ""}, {`\dAc`, ""}, {`\dAf`, ""},
	{`\dAo`, ""}, {`\dAp`, ""}, {`\db`, ""}, {`\dc`, ""}, {`\dC`, ""}, {`\dconfig`, ""}, {`\dd`, ""}, {`\dD`, "sealed"}, {`\ddp`, ""}, {`\dE`, ""},
	{`\des`, ""}, {`\det`, ""}, {`\deu`, ""}, {`\dew`, ""}, {`\df`, ""}, {`\dF`, ""}, {`\dFd`, ""}, {`\dFp`, ""}, {`\dFt`, ""}, {`\dg`, "ann"},
	{`\di`, "reading_pkey"}, {`\dl`, ""}, {`\dL`, ""}, {`\dm`, ""}, {`\dn`, "public"}, {`\do`, ""}, {`\dO`, ""}, {`\dp`, "reading"}, {`\dP`, ""}, {`\drds`, ""},
	{`\dRp`, ""}, {`\dRs`, ""}, {`\ds`, ""}, {`\dt`, "reading"}, {`\dT`, "sealed"}, {`\du`, "ann"}, {`\dv`, "recent"}, {`\dx`, ""}, {`\dX`, ""}, {`\dy`, ""},
	{`\l`, "homes"}, {`\z`, "reading"}, {`\sv recent`, "SELECT home, hour FROM reading"}, {`\dt+`, "reading"}, {`\dn+`, "public"}, {`\l+`, "homes"}, {`\du+`, "ann"},
	{`\dS`, "pg_class"}, {`SELECT count(*) FROM reading`, "3"}, {`SELECT 'a'::text || E'\tb'`, "a\tb"},
}

// Debian's psql gets answers to its commands.
func TestPsql(t *testing.T) {
	program, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("psql is not installed: install postgresql-client")
	}
	verifier, err := wire.NewVerifier("secret", wire.DefaultIterations)
	if err != nil {
		t.Fatal(err)
	}
	server := wire.NewServer(&front{open(t), verifier}, wire.Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		server.Shutdown(ctx)
		<-served
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	for _, c := range psqlCommands {
		cmd := exec.Command(program, "-X", "-At", "-v", "ON_ERROR_STOP=1", "-c", c.command, "host=127.0.0.1 port="+port+" user=ann dbname=homes")
		cmd.Env = append(os.Environ(), "PGPASSWORD=secret", "LC_ALL=C")
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil || strings.Contains(said.String(), "ERROR") || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v %s\n%s", c.command, err, said.String(), out.String())
		}
	}
}
