package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/geosql/geosql/cmd/geosql/internal/publish"
	"github.com/geosql/geosql/cmd/geosql/internal/vault"
	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/pgtest"
	"github.com/geosql/geosql/ledger/engines"
	"github.com/geosql/geosql/release"
	"github.com/geosql/geosql/sqlitefn"
)

// oldSpending stores, limits and spends after the declarations.
const oldSpending = `
CREATE TABLE place(lat REAL, lon REAL, people INTEGER);
INSERT INTO place VALUES (38.7107, -9.1367, 9000), (38.7350, -9.1450, 12000), (38.7530, -9.1440, 10000), (38.7700, -9.1150, 9000);
SELECT optql_store('quarters', optql_build(lat, lon, people, 0.002, 1, 'city')) FROM place;
SELECT prior_store('people', prior_build(lat, lon, people, 'city')) FROM place;
CREATE TEMP TABLE fix(trace TEXT, t INTEGER, lat REAL, lon REAL);
INSERT INTO fix WITH RECURSIVE minute(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM minute WHERE m < 199)
SELECT 'taxi', m * 60, 38.75 + 0.003 * (abs(m % 40 - 20) - 10), -9.145 + 0.004 * (abs((m + 10) % 40 - 20) - 10) FROM minute;
SELECT markov_store('taxis', markov_train(trace, t, lat, lon, 'city', 1000, 60)) FROM fix;
SELECT trace_policy('ride', 'bob', 'pim', '{"model": "taxis", "epsilon": 4, "delta": 0.01, "min_set": 3}');
SELECT budget_limit('*', 'm', 4), budget_limit('poor', 'm', 0.5), budget_limit('often', 'm', 1, 86400), budget_limit('*', 'm2', 4),
  budget_limit('*', 'kWh', 100), budget_limit('*', 'record', 4), budget_limit('*', 'set', 100), budget_limit('*', 'cip:study', 9);
SELECT geoind_laplace('ana', 38.71, -9.14, 0.125, 'city'), geoind_laplace('often', 38.71, -9.14, 0.25, 'park'),
  geoind_gauss('ana', 38.71, -9.14, 0.0625, 'city'), geoind_optimal('bob', 38.71, -9.14, 'quarters');
SELECT dx_sum(who, kwh, 0.5, 'load'), dx_count(who, 0.5) FROM (SELECT 'ana' AS who, 3 AS kwh UNION ALL SELECT 'bob', 4);
SELECT predictive_step('walk', t, lat, lon) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix LIMIT 5;
SELECT predictive_value('usage', t, t / 60 % 9) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix LIMIT 5;
SELECT pim_step('ride', t, lat, lon) OVER (ORDER BY t ROWS UNBOUNDED PRECEDING) FROM fix LIMIT 5;
SELECT cip_trace('ana', t, lat, lon, 'study') FROM (SELECT 0 AS t, 38.75 AS lat, -9.145 AS lon UNION ALL SELECT 60, 38.7505, -9.145);
SELECT budget_reserve('carla', 'm', 0.5);`

// oldQuestions asks for everything that a later version must still know.
const oldQuestions = `
SELECT account, unit, epsilon_limit, spent FROM ledger_balance ORDER BY account, unit;
SELECT name, south, west, north, east, step_m FROM geosql_domain ORDER BY name;
SELECT key, value FROM json_each(optql_report('quarters')) WHERE key <> 'seconds';
SELECT markov_info('taxis');
SELECT geoind_remap(38.72, -9.14, 'people', 0.01, 'city');
SELECT * FROM trace_run('walk');
SELECT * FROM trace_run('usage');
SELECT * FROM trace_run('ride');`

// version2 turns a ledger into its format before there were leases.
const version2 = "ALTER TABLE leased_trace RENAME TO trace; DROP TABLE lease; PRAGMA user_version = 2; VACUUM"

// copyFile copies a file that nobody has open.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	check(t, os.WriteFile(to, []byte(contentOf(t, from)), 0o600))
}

var writeFormats = flag.Bool("write-formats", false, "write the files of this version, which has none yet, into "+formats)

// TestWriteFormats writes the files of this version. One platform does it: the others read the same files.
func TestWriteFormats(t *testing.T) {
	if !*writeFormats {
		t.Skip("files are written once for each version, with -write-formats")
	}
	to, err := filepath.Abs(filepath.Join(formats, sqlitefn.Version))
	check(t, err)
	t.Chdir(t.TempDir())
	write := func(name, content string) { check(t, os.WriteFile(name, []byte(content), 0o600)) }
	write("password", "sesame\n")
	write("interface", strings.Join(interfaceLines(t), "\n")+"\n")

	clitest.Query(t, "city.db", "PRAGMA page_size = 1024;"+oldDeclarations+oldSpending)
	write("remembered.sql", oldQuestions)
	write("remembered.csv", clitest.Query(t, "-csv", "city.db", oldQuestions))
	write("head", strings.TrimPrefix(clitest.Run(t, "", "budget", "city.db").Err, "ledger head "))
	copyFile(t, "city.db-ledger", "version2.db-ledger")
	change(t, "version2.db-ledger", version2)
	copyFile(t, "city.db-ledger", "archived.db-ledger")
	said(t, "budget", "archived.db-ledger", "--archive", "archive", "--before", "2100-01-01")
	said(t, "backup", "city.db", "backup.db")
	copyFile(t, "city.db-ledger", "moved.db-ledger")
	said(t, "ledger", "move", "moved.db-ledger", pgtest.Start(t).Database(t))

	write("places.csv", "who,lat,lon\nana,38.71,-9.14\nbob,38.72,-9.13\nana,38.75,-9.15\n")
	said(t, releaseOf("released")...)
	stopRelease(t, "stopped", release.Sealing)
	stopRelease(t, "sealed", release.Publishing)

	for _, key := range []string{"owner.key", "collector.key"} {
		said(t, "keygen", key)
	}
	clitest.Query(t, "plain.db", "PRAGMA page_size = 1024;"+oldDeclarations+`
		CREATE TABLE reading(who TEXT, day INTEGER, kwh REAL);
		INSERT INTO reading VALUES ('ana', 1, 3), ('bob', 1, 4), ('carla', 1, 2.5);
		CREATE TABLE place(who TEXT, lat REAL, lon REAL);
		INSERT INTO place VALUES ('ana', 38.75, -9.145), ('bob', 38.752, -9.143);
		SELECT budget_limit('*', 'kWh', 9000000), budget_limit('*', 'm', 100)`)
	said(t, "seal", "plain.db", "out.db", "--key", "owner.key.pub", "--yes",
		"--table", "reading", "--account", "who", "--seal", "kwh:load", "--public", "day",
		"--table", "place", "--account", "who", "--seal", "lat,lon:park")
	said(t, "collector", "out.db", "add", "collector", "--verify", "collector.key.pub")
	write("new.csv", "who,day,kwh\nana,2,4\nbob,2,1\ncarla,2,1\n")
	said(t, "append", "out.db", "reading", "new.csv", "--key", "owner.key.pub", "--sign", "collector.key")
	said(t, "erase", "out.db", "--account", "carla", "--key", "owner.key")
	write("batch.jsonl", oldBatch(t))
	said(t, "role", "out.db", "add", "ana", "--password-file", "password", "--columns", "reading.kwh", "--epsilon-max", "kWh=1", "--epsilon", "kWh=5")
	write("answer", askOldServer(t))
	owners, err := vault.ReadPrivateKeys([]string{"owner.key"}, "")
	check(t, err)
	locked, err := owners[0].Encrypt([]byte("sesame")) // the first line of password
	check(t, err)
	write("locked.key", string(locked))
	for _, scratch := range []string{"plain.db", "plain.db-ledger", "new.csv"} {
		check(t, os.Remove(scratch))
	}
	pack(t, to)
}

// oldBatch seals rows for out.db as a device does.
func oldBatch(t *testing.T) string {
	t.Helper()
	var lines []string
	check(t, json.Unmarshal(inNode(t, sealsOnDevice, map[string]any{
		"ownerKey": contentOf(t, "owner.key.pub"), "declaration": clitest.Run(t, "", "collector", "out.db", "declaration").Out,
		"table": "reading", "signKey": contentOf(t, "collector.key"),
		"rows": []any{[]any{"ana", map[string]any{"day": 4, "kwh": 2.5}}, []any{"dan", map[string]any{"day": 4, "kwh": 1}}, []any{"dan", map[string]any{"day": 5}}},
	}), &lines))
	return strings.Join(lines, "")
}

// stopRelease makes a release until a stage begins.
func stopRelease(t *testing.T, name string, stage release.Stage) {
	t.Helper()
	var task publish.Task
	flags := flag.NewFlagSet("", flag.PanicOnError)
	registerRelease(flags, &task)
	check(t, flags.Parse(releaseOf(name)[1:]))
	check(t, task.Check())
	task.Spec.Progress = func(p release.Progress) {
		if p.Stage == stage {
			runtime.Goexit()
		}
	}
	l, err := engines.Open(task.Ledger.File, true, task.Ledger.Mode)
	check(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := release.Run(context.Background(), task.Spec, l)
		t.Errorf("the release %s did not stop: %v", name, err)
	}()
	<-ended
	check(t, l.Close())
}

// pack copies this folder to another, which must not exist. The page of a release is left out: people read it.
func pack(t *testing.T, to string) {
	check(t, os.MkdirAll(filepath.Dir(to), 0o755))
	check(t, os.Mkdir(to, 0o755))
	files, err := os.ReadDir(".")
	check(t, err)
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".html") {
			continue
		}
		var packed bytes.Buffer
		z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		check(t, err)
		_, err = z.Write([]byte(contentOf(t, f.Name())))
		check(t, err)
		check(t, z.Close())
		check(t, os.WriteFile(filepath.Join(to, f.Name()+".gz"), packed.Bytes(), 0o644))
	}
}

// askOldServer serves the sealed database of this folder, and returns its answer to a role.
func askOldServer(t *testing.T) string {
	t.Helper()
	s := startServing(t, sealedPlace{t, "out.db", "owner.key", "owner.key.pub"})
	defer s.end(0)
	defer s.signal(os.Interrupt)
	conn := s.MustConnect("")
	defer conn.Close(context.Background())
	var answer string
	check(t, conn.QueryRow(context.Background(), "SELECT printf('%s', dx_sum(kwh, 0.5)) FROM reading").Scan(&answer))
	return answer
}

// A role logs in with its old password, and gets its earlier answers again, at no cost.
func TestFormatsOfServer(t *testing.T) {
	ofEachVersion(t, func(t *testing.T) {
		before := said(t, "budget", "out.db")
		if got, want := askOldServer(t), contentOf(t, "answer"); got != want {
			t.Errorf("the answer is %s, and was %s", got, want)
		}
		if after := said(t, "budget", "out.db"); after != before {
			t.Errorf("%s\nit was\n%s", after, before)
		}
	})
}
