package wire

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/need"
)

// psql runs Debian's psql and returns its output.
func (s *site) psql(t testing.TB, input, more string, args ...string) (string, string) {
	t.Helper()
	command := exec.CommandContext(background(t), need.Program(t, "psql"), append([]string{"-X", s.dsn(more)}, args...)...)
	command.Env = append(os.Environ(), "LC_ALL=C", "PGSSLROOTCERT="+s.ca)
	command.Stdin = strings.NewReader(input)
	var out, errors bytes.Buffer
	command.Stdout, command.Stderr = &out, &errors
	command.Run() // its output says how it ended
	return out.String(), errors.String()
}

func TestPsql(t *testing.T) {
	s := serve(t, Options{ServerVersion: "15.0 (toy)"})
	for _, x := range []struct{ input, more, out, err string }{
		{"rows 2;", "", "0|row\n1|row\n", ""},
		{"rows 1;", "sslmode=verify-full channel_binding=require", "0|row\n", ""},
		{"rows 1;\nfail;\nrows 2;", "", "0|row\n0|row\n1|row\n",
			"ERROR:  account 'ana' has nothing left\nDETAIL:  0.1/kWh asked\nHINT:  Raise the limit.\n"},
		{"notice;", "", "NOTICE\n", "NOTICE:  this answer cost 0.1/kWh\nDETAIL:  plus or minus 3\n"},
		{"nonsense;", "", "", "ERROR:  syntax error at \"nonsense\"\nLINE 1: nonsense;\n        ^\n"},
		{"copy 3;", "", "0\tplain\n1\t\\N\n2\ta\\tb\\\\c\\n\"d,\n", ""},
		{"begin;\nrollback;", "", "BEGIN\nROLLBACK\n", ""},
		{"\\echo :ENCODING :SERVER_VERSION_NAME\n", "", "UTF8 15.0 (toy)\n", ""},
		{"", "password=wrong", "", `FATAL:  password authentication failed for user "ana"`},
		{"", "user=nobody", "", `FATAL:  password authentication failed for user "nobody"`},
	} {
		out, err := s.psql(t, x.input, x.more, "-At")
		if out != x.out || x.err == "" && err != "" || !strings.Contains(err, x.err) {
			t.Errorf("%s %s: %q %q", x.input, x.more, out, err)
		}
	}
}

// BenchmarkPsql has psql read a million rows, as `psql -At -o /dev/null` does.
func BenchmarkPsql(b *testing.B) {
	s := serve(b, Options{})
	for b.Loop() {
		if _, err := s.psql(b, "", "", "-At", "-o", "/dev/null", "-c", "rows 1000000"); err != "" {
			b.Fatal(err)
		}
	}
}

// BenchmarkRow writes a row of four values.
func BenchmarkRow(b *testing.B) {
	r := newRow([]Column{{OID: OIDInt8}, {OID: OIDFloat8}, {OID: OIDText}, {OID: OIDBool}}, nil)
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		r.begin(buf[:0])
		r.Int(123456789)
		r.Float(0.125)
		r.Text("some text")
		r.Bool(true)
		var err error
		if buf, err = r.end(); err != nil {
			b.Fatal(err)
		}
	}
}
