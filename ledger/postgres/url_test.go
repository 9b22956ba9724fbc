package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/geosql/geosql/internal/pgtest"
)

func TestIsURL(t *testing.T) {
	for where, want := range map[string]bool{
		"postgres://h/d": true, "postgresql://": true, "POSTGRES://h": true, "Postgresql://h/d?x=y": true,
		"": false, "postgres": false, "postgres:/h/d": false, "postgresx://h": false, "./postgres://h": false, "mysql://h": false, "host=h dbname=d": false,
	} {
		if IsURL(where) != want {
			t.Errorf("%q: %v", where, !want)
		}
	}
}

func TestRedact(t *testing.T) {
	for where, want := range map[string]string{
		"postgres://h/d": "postgres://h/d",
		"postgresql://ana@h:6543/d?sslmode=verify-full&sslrootcert=/k": "postgresql://ana@h:6543/d",
		"POSTGRES://ana:secret@h/d":                                    "postgres://ana@h/d",
		"postgres:///d?user=ana&host=/run/pg&application_name=x":       "postgres:///d?host=/run/pg&user=ana",
		"postgres://ana@one:1,two:2/d?target_session_attrs=primary":    "postgres://ana@one:1,two:2/d",
		"postgres://ana@[::1]:5432/d":                                  "postgres://ana@[::1]:5432/d",
		"postgres://ana:se/cret@h/d":                                   "postgres://..",
		"postgres://ana:12/secret@h/d":                                 "postgres://..",
		"postgres://ana:12?secret@h/d":                                 "postgres://..",
		"postgres://ana:12#secret@h/d":                                 "postgres://..",
		"postgres://h/d#secret":                                        "postgres://..",
		"postgres://h/d?a;b":                                           "postgres://..",
		"postgres://h/d%0a":                                            "postgres://h/d%0A",
	} {
		if got := Redact(where); got != want {
			t.Errorf("%s: %s, want %s", where, got, want)
		}
	}
}

func TestParseURL(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for _, where := range []string{
		"postgres://ana@h:6543/d", "POSTGRESQL://ana@h:6543/d", "postgres://h/d?user=ana&port=6543",
		"postgres:///?host=h&dbname=d&user=ana&port=6543", "postgres://ana@h:6543,i:6544/d",
	} {
		config, err := parseURL(where)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			continue
		}
		if c := config.ConnConfig; c.Host != "h" || c.Port != 6543 || c.Database != "d" || c.User != "ana" || c.Password != "" {
			t.Errorf("%s: %s %d %s %s", where, c.Host, c.Port, c.Database, c.User)
		}
	}
	for where, want := range map[string]string{
		"postgres://ana:secret@h/d":                        "PGPASSFILE",
		"postgres://ana:@h/d":                              "PGPASSFILE",
		"postgres://ana@h/d?password=secret":               "PGPASSFILE",
		"postgres://ana@h/d?pass%77ord=secret":             "PGPASSFILE",
		"postgres://ana@h/d?PASSWORD=secret":               "PGPASSFILE",
		"postgres://ana@h/d?sslpassword=secret":            "PGPASSFILE",
		"postgres://ana@h/d?sslmode=secret":                "postgres://ana@h/d: the value of parameter sslmode",
		"postgres://ana@h/d?connect_timeout=secret":        "parameter connect_timeout",
		"postgres://ana@h/d?sslrootcert=/secret":           "parameter sslrootcert",
		"postgres://ana@h/d?pool_max_conns=secret":         "parameter pool_max_conns",
		"postgres://ana@h/d?port=99999999":                 "port=99999999: the value of parameter port",
		"postgres://ana@h:99999999/d":                      "look at the host and the port",
		"postgres://ana@h/d?service=secret":                "parameter service",
		"postgres://ana@h/d?sslmode=secret&service=secret": "do not go together",
		"postgres://ana@h:port/d":                          "not of the form",
		"postgres://ana:12/secret@h/d":                     "%40",
		"file.db":                                          "does not begin with postgres://",
	} {
		_, err := parseURL(where)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", where, err, want)
		}
	}
}

// FuzzURL looks for URLs with a password or other parameters that can be seen in an error or in the form
// to show. Secrets have a mark, and are put where a user would put them.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"", "x", "12", "12/", "12?", "12#", "@", "@h/", ":", "%", "%zz", "&", ";", "=", "\n", "\x00", "é", "[", "]", "12?user=", "12?host="} {
		f.Add(s, s)
		f.Add(s, "")
	}
	const mark = "Zq9wKx"
	f.Fuzz(func(t *testing.T, before, after string) {
		secret := before + mark + after
		escaped := url.QueryEscape(secret)
		for _, where := range []string{
			"postgres://ana:" + secret + "@h:5432/d",
			"postgres://ana:" + secret + "@h/d?sslmode=require",
			"postgres://ana:" + url.PathEscape(secret) + "@h/d",
			"postgres://ana@h/d?password=" + escaped,
			"postgres://ana@h/d?sslpassword=" + escaped,
			"postgres://ana@h/d?sslmode=" + escaped,
			"postgres://ana@h/d?sslkey=" + escaped + "&sslcert=" + escaped,
			"postgres://ana@h/d?options=" + escaped,
			"postgres://ana@h/d?application_name=" + escaped + "&connect_timeout=x",
			"postgres://ana@h/d?passfile=" + escaped + "&port=x",
			"postgres://ana@h/d?" + escaped + "=x&sslmode=x",
		} {
			shown := []string{Redact(where)}
			if _, err := parseURL(where); err != nil {
				shown = append(shown, err.Error())
			}
			for _, s := range shown {
				if strings.Contains(s, mark) || strings.Contains(s, "\n") {
					t.Fatalf("%q shows %q", where, s)
				}
			}
		}
	})
}

func TestExplainConnect(t *testing.T) {
	server := pgtest.Start(t)
	where := server.Database(t)
	for _, v := range []struct{ from, to, want string }{
		{"postgres@", "nobody-at-all@", "PGPASSFILE"}, // as for one with a wrong password
		{"/test", "/none-", "database=none-"},
		{"host=", "host=/none,", "dial"}, // two lines of pgx
	} {
		config, err := parseURL(strings.Replace(where, v.from, v.to, 1))
		if err != nil {
			t.Fatal(err)
		}
		if v.want == "dial" {
			config.ConnConfig.Fallbacks[0].Host = "/none-either"
		}
		_, err = pgconn.ConnectConfig(context.Background(), &config.ConnConfig.Config)
		err = explainConnect(fmt.Errorf("ledger: %w", err))
		if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok || !strings.Contains(err.Error(), v.want) || strings.ContainsAny(err.Error(), "\n\t") {
			t.Errorf("%s: %v, want %s", v.to, err, v.want)
		}
	}
	if err := errors.New("other\nerror"); explainConnect(err) != err {
		t.Error("another error was changed")
	}
}

// A URL is checked where nobody connects to it: files named there may be missing.
func TestCheckURL(t *testing.T) {
	if err := CheckURL("postgres://ana@h/d?sslmode=verify-full&sslrootcert=/no/such/file"); err != nil {
		t.Error(err)
	}
	for _, where := range []string{"postgres://ana:secret@h/d", "postgres://h/d?password=secret", "/data/ledger", "postgres:h"} {
		if err := CheckURL(where); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", where, err)
		}
	}
}
