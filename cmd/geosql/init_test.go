package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// tripRows makes locations of 12 people in Lisbon, and meterRows hours of 6 meters.
const (
	tripRows = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 479)
		SELECT printf('p%02d', i % 12) AS person, strftime('%Y-%m-%dT%H:%M', '2026-03-01', (i * 97) || ' minutes') AS t,
		  round(38.72 + 0.03 * sin(i * 1.7), 6) AS lat, round(-9.14 + 0.04 * cos(i * 2.3), 6) AS lon FROM n`
	meterRows = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 8639)
		SELECT 100 + i % 6 AS meter, strftime('%Y-%m-%d %H:%M', '2026-01-01', (i / 6) || ' hours') AS t,
		  round(0.3 + 0.2 * sin(i / 6 * 0.2618), 3) AS kwh FROM n`
)

// madeUp writes a file of made-up rows in a folder.
func madeUp(t *testing.T, dir, name, rows string) string {
	t.Helper()
	return writeTo(t, filepath.Join(dir, name), clitest.Query(t, "-csv", ":memory:", rows))
}

func writeTo(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// runInit runs init and demands that it succeeds. It returns its messages.
func runInit(t *testing.T, args ...string) string {
	t.Helper()
	r := clitest.Run(t, "", append([]string{"init"}, args...)...)
	if r.Status != 0 || r.Out != "" {
		t.Fatalf("init %q: status %d, %q, %s", args, r.Status, r.Out, r.Err)
	}
	return r.Err
}

// questionsIn returns the three commands at the end of init's messages.
func questionsIn(t *testing.T, said string) []string {
	t.Helper()
	var commands []string
	_, rest, _ := strings.Cut(said, "Three questions to ask next about ")
	for _, part := range strings.Split(rest, "\n\n# ")[1:] {
		command := part[strings.Index(part, "geosql "):]
		commands = append(commands, command)
	}
	if len(commands) != 3 {
		t.Fatalf("%d questions in %q", len(commands), said)
	}
	return commands
}

// runShell runs a script in which geosql is the command, in a folder. It returns standard output.
func runShell(t *testing.T, dir, script string) string {
	t.Helper()
	clitest.NeedsSh(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := clitest.Command(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-ec", `geosql() { "$SELF" "$@"; }` + "\n" + script}
	cmd.Env = append(cmd.Env, "SELF="+self)
	cmd.Dir = dir
	var errOut strings.Builder
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, errOut.String(), script)
	}
	return string(out)
}

// unwrapped undoes the breaks of lines, which depend on the length of a folder's name.
var unwrapped = strings.NewReplacer("\n", " ")

func TestInitLocations(t *testing.T) {
	dir := t.TempDir()
	file, db := madeUp(t, dir, "trips.csv", tripRows), filepath.Join(dir, "city.db")
	said := runInit(t, db, file, "--account", "person", "--lat", "lat", "--lon", "LON", "--box", "lisbon", "--epsilon-for", "500", "--limit", "4x", "--record-limit", "2")
	for _, want := range []string{
		"trips.csv: 480 rows (separated by commas", "  person  TEXT     0  p00, p01, p02\n", "t: times, which functions read as UTC\n", "12 accounts (for the owner only: up to 40 rows of one account)",
		"epsilon 0.00951 per metre: 95 % of the released locations are within 500 m, the\naverage", "limit 0.03804 per metre: 4 releases", "nothing was charged",
	} {
		if !strings.Contains(unwrapped.Replace(said), unwrapped.Replace(want)) {
			t.Errorf("init does not say %q but %q", want, said)
		}
	}
	const sql = `SELECT geo_domain('lisbon', 38.5, -9.5, 39, -8.9, 1);
SELECT budget_limit('*', 'm', 0.03804);
SELECT budget_limit('*', 'record', 2);
`
	kept, err := os.ReadFile(db + ".sql")
	if err != nil || !strings.HasSuffix(strings.ReplaceAll(string(kept), "-- Locations, released at epsilon 0.00951 per metre.\n", ""), "\n"+sql) {
		t.Errorf("kept %q, %v", kept, err)
	}
	for _, name := range []string{db, db + "-ledger", db + ".sql"} {
		if info, err := os.Stat(name); err != nil || forOthers(info) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if got := clitest.Query(t, "-csv", db, "SELECT count(*), typeof(lat) FROM trips; SELECT count(*) FROM ledger_charges"); got != "count(*),typeof(lat)\n480,real\ncount(*)\n0\n" {
		t.Errorf("there is %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*unfinished*")); left != nil {
		t.Errorf("%v is left", left)
	}
	for _, command := range questionsIn(t, said) {
		runShell(t, dir, command)
	}
	if rows, err := os.ReadFile(filepath.Join(dir, "trips.geojson")); err != nil || strings.Count(string(rows), "within_m") != 12 {
		t.Errorf("the map is %q, %v", rows, err)
	}
	if got := clitest.Query(t, "-csv", db, "SELECT max(spent) FROM ledger_balance WHERE unit = 'm'; SELECT max(spent) FROM ledger_balance WHERE unit = 'record'"); got != "max(spent)\n0.02853\nmax(spent)\n0\n" {
		t.Errorf("spent %q", got)
	}
	// The declarations that are kept can be run again.
	clitest.Query(t, db, string(kept))
	// A spent budget refuses in one line.
	const again = "SELECT count(g.lat) FROM trips AS t, geoind_laplace(t.person, t.lat, t.lon, 0.02, 'lisbon') AS g WHERE person = 'p00'"
	clitest.WantError(t, clitest.Run(t, "", db, again), 1, "account 'p00' has 0.0")
}

func TestInitReadings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, db := madeUp(t, dir, "meters.csv", meterRows), filepath.Join(dir, "energy.db")
	args := []string{db, file, "--account", "meter", "--time", "t", "--reading", "kwh", "--universe", "0,10,0.001", "--unit", "kWh", "--reading-epsilon-for", "3", "--reading-limit", "4x"}
	for _, c := range []struct {
		record string
		spent  string // of kWh
	}{{"none", "3.996"}, {"1", "1.998"}} {
		for _, suffix := range []string{"", "-ledger", ".sql"} {
			os.Remove(db + suffix)
		}
		for _, command := range questionsIn(t, runInit(t, append(args, "--record-limit", c.record)...)) {
			if out := runShell(t, dir, command); !strings.Contains(out, "within") {
				t.Errorf("%s printed %s", command, out)
			}
		}
		if got := clitest.Query(t, "-csv", db, "SELECT max(spent) FROM ledger_balance WHERE unit = 'kWh'"); got != "max(spent)\n"+c.spent+"\n" {
			t.Errorf("with a limit of %s per record the questions spent %s", c.record, got)
		}
	}
	// Declarations are used again, and the limit stays.
	again := madeUp(t, dir, "more.csv", meterRows)
	said := runInit(t, db, again, "--account", "meter", "--reading", "kwh", "--universe", "kwh", "--reading-epsilon", "0.5")
	if !strings.Contains(said, "-- The limit per kWh stays 3.996.\n") || !strings.Contains(said, "SELECT dx_universe('kwh', 0, 10, 0.001, 'kWh');\n") {
		t.Errorf("init says %q", said)
	}
	// Another universe gets a name of its own.
	said = runInit(t, db, again, "--into", "third", "--account", "const:house", "--reading", "kwh", "--universe", "0,100,0.001,kWh", "--reading-epsilon", "0.5")
	if !strings.Contains(said, "SELECT dx_universe('kwh2', 0, 100, 0.001, 'kWh');\n") || !strings.Contains(said, "dx_avg('house', kwh, 0.5, 'kwh2')") {
		t.Errorf("init says %q", said)
	}
	if got := clitest.Query(t, "-csv", db, "SELECT unit, epsilon_limit FROM ledger_limits WHERE account = '*'"); got != "unit,epsilon_limit\nkWh,3.996\nrecord,1\n" {
		t.Errorf("limits %s", got)
	}
}

// A file may have both. A ledger without its database keeps its limits and charges.
func TestInitLocationsAndReadings(t *testing.T) {
	dir := t.TempDir()
	file, db := madeUp(t, dir, "rides.csv", "SELECT *, 0.25 AS kwh FROM ("+tripRows+")"), filepath.Join(dir, "x.db")
	args := []string{db, file, "--account", "person", "--time", "t", "--lat", "lat", "--lon", "lon", "--box", "38.5,-9.5,39,-8.9", "--epsilon", "0.01", "--limit", "0.05",
		"--reading", "kwh", "--universe", "0,10,0.001,kWh", "--reading-epsilon", "1", "--reading-limit", "5", "--ledger", filepath.Join(dir, "ledger")}
	for range 2 {
		said := runInit(t, args...)
		for _, command := range questionsIn(t, said) {
			runShell(t, dir, command)
		}
		if !strings.Contains(said, "SELECT geo_domain('area', 38.5, -9.5, 39, -8.9, 1);\n") {
			t.Errorf("init says %q", said)
		}
		if err := os.Remove(db); err != nil {
			t.Fatal(err)
		}
	}
	said := runInit(t, args...)
	if !strings.Contains(said, "ledger "+filepath.Join(dir, "ledger")+" was there before, and keeps its charges\n") {
		t.Errorf("init says %q", said)
	}
	if got := clitest.Query(t, "-csv", "--ledger", filepath.Join(dir, "ledger"), db, "SELECT unit, max(spent) FROM ledger_balance GROUP BY unit"); got != "unit,max(spent)\nkWh,4\nm,0.02\n" {
		t.Errorf("spent %s", got)
	}
}

// With a limit for one answer, the other questions cost nothing.
func TestInitQuestionsStayBelowLimits(t *testing.T) {
	dir := t.TempDir()
	file, db := madeUp(t, dir, "trips.csv", tripRows), filepath.Join(dir, "city.db")
	said := runInit(t, db, file, "--account", "person", "--lat", "lat", "--lon", "lon", "--box", "Lisbon", "--epsilon", "0.01", "--limit", "0.015", "--window", "30d")
	commands := questionsIn(t, said)
	if !strings.HasPrefix(commands[1], "geosql cost ") || !strings.HasPrefix(commands[2], "geosql budget ") {
		t.Errorf("questions %q", commands)
	}
	commands[1] += " || [ $? = 3 ]" // the first one has spent the limit
	for _, command := range commands {
		runShell(t, dir, command)
	}
	if !strings.Contains(said, "budget_limit('*', 'm', 0.015, 2592000)") {
		t.Errorf("init says %q", said)
	}
}

// Several files make one database, or none.
func TestInitSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	first, db := madeUp(t, dir, "trips.csv", tripRows), filepath.Join(dir, "city.db")
	second := madeUp(t, dir, "other trips.csv", tripRows)
	bad := writeTo(t, filepath.Join(dir, "bad.csv"), "person,t,lat,lon\nana,2026-01-01,48.85,2.33\n")
	flags := []string{"--account", "person", "--lat", "lat", "--lon", "lon", "--box", "Lisbon", "--epsilon", "0.01", "--limit", "0.04"}
	clitest.WantError(t, lastLine(clitest.Run(t, "", append([]string{"init", db, first, bad}, flags...)...)), 1, "all of the locations lie outside Lisbon")
	if left, _ := filepath.Glob(db + "*"); left != nil {
		t.Errorf("%v is left", left)
	}
	runInit(t, append([]string{db, first, second}, flags...)...)
	if got := clitest.Query(t, "-csv", db, "SELECT (SELECT count(*) FROM trips) + (SELECT count(*) FROM other_trips) AS n"); got != "n\n960\n" {
		t.Errorf("rows %s", got)
	}
}

// lastLine leaves of standard error the last line, which is the error.
func lastLine(r clitest.Result) clitest.Result {
	lines := strings.SplitAfter(r.Err, "\n")
	if len(lines) > 1 {
		r.Err = lines[len(lines)-2]
	}
	return r
}

// Wrong turns end in one line that says the cure, and leave nothing behind.
func TestInitWrongTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trips := madeUp(t, dir, "trips.csv", tripRows)
	text := string(must(t, os.ReadFile, trips))
	header, rows, _ := strings.Cut(text, "\n")
	edit := func(name, text string) string { return writeTo(t, filepath.Join(dir, name), text) }
	swapped := edit("swapped.csv", strings.Replace(header, "lat,lon", "lon,lat", 1)+"\n"+rows)
	nameless := edit("nameless.csv", rows)
	commas := edit("commas.csv", header+"\np1,2026-03-01,\"38,72\",\"-9,14\"\n")
	mixed := edit("mixed.csv", header+"\np1,2026-03-01,38.72,-9.14\np1,2026-03-01,n/a,-9.14\n")
	projected := edit("projected.csv", header+"\np1,2026-03-01,4285000,487000\n")
	nowhere := edit("nowhere.csv", header+"\np1,2026-03-01,,-9.14\n")
	place := []string{"--account", "person", "--lat", "lat", "--lon", "lon"}
	all := append(place, "--box", "Lisbon", "--epsilon", "0.01", "--limit", "4x")
	reading := []string{"--account", "person", "--reading", "lat", "--universe"}
	db := filepath.Join(dir, "x.db")
	for _, c := range []struct {
		file   string
		flags  []string
		status int
		text   string
	}{
		{trips, nil, 2, "use --account COLUMN (columns: person, t, lat, lon) or --account const:NAME; also missing: --lat --lon --box --epsilon-for --limit, or --reading --universe --unit --reading-epsilon-for --reading-limit"},
		{trips, []string{"--account", "persn"}, 1, "init: -account persn: there is no column persn (columns: person, t, lat, lon); did you mean person?"},
		{trips, []string{"--account", "lat"}, 1, "accounts are TEXT or INTEGER: --type lat=TEXT"},
		{trips, []string{"--account", "person"}, 2, "no columns to protect: use --lat COLUMN and --lon COLUMN, or --reading COLUMN (columns: person, t, lat, lon); also missing: --box --epsilon-for --limit, or --universe"},
		{trips, []string{"--account", "person", "--lat", "lat"}, 2, "use --lon COLUMN; also missing: --box --epsilon-for --limit"},
		{trips, []string{"--account", "person", "--lat", "lat", "--lon", "lat"}, 1, "-lon lat: that is the latitude"},
		{trips, []string{"--account", "person", "--lat", "t", "--lon", "lat"}, 1, "column t has no numbers: a cell of it is '2026-03-01T00:00'"},
		{trips, place, 2, "of the public boxes, these hold the locations: Lisbon, Portugal"},
		{trips, append(place, "--epsilon", "0.01"), 2, "; also missing: --limit"},
		{trips, append(place, "--box", "Lisbn"), 1, "the list has no place Lisbn; did you mean Lisbon?"},
		{trips, append(place, "--box", "1"), 1, "the list has no place 1"},
		{trips, append(place, "--box", "38.5,-9.5,39"), 1, "a box has four numbers"},
		{trips, append(place, "--box", "39,-9.5,38.5,-8.9"), 1, "cannot be a domain: south"},
		{trips, append(place, "--box", "Russia"), 1, "the box is too large"},
		{trips, append(place, "--box", "Paris"), 1, "all of the locations lie outside Paris (--outside SHARE allows more)"},
		{trips, append(place, "--box", "-9.5,38.5,-8.9,39"), 1, "all of the locations lie outside -9.5,38.5,-8.9,39; latitude and longitude are likely swapped"},
		{trips, append(place, "--box", "Lisbon"), 2, "use --epsilon-for METRES or --epsilon E"},
		{trips, append(place, "--box", "Lisbon", "--epsilon", "-1"), 1, "epsilon must be above 0"},
		{trips, append(place, "--box", "Lisbon", "--epsilon-for", "0.5"), 1, "must be at least 0.71"},
		{trips, append(place, "--box", "Lisbon", "--epsilon", "0.01"), 2, "use --limit E, or such as --limit 4x for four releases"},
		{trips, append(place, "--box", "Lisbon", "--epsilon", "0.01", "--limit", "0.009"), 1, "not even one release at epsilon 0.01"},
		{trips, append(all, "--step", "x"), 2, `"x" is not a number`},
		{trips, append(all, "--step", "0"), 1, "step_m must be at least 0.001"},
		{trips, append(all, "--window", "3h"), 1, "write never, a number of seconds, or days such as 30d"},
		{trips, append(all, "--epsilon-for", "500"), 2, "give either -epsilon or -epsilon-for"},
		{trips, append(all, "--into", "geosql_x"), 1, "init: table names that start with geosql_ are reserved"},
		{swapped, all, 1, "latitude and longitude are likely swapped: the other way round they lie in it"},
		{nameless, all, 1, "say --no-header if it is a row"},
		{commas, all, 1, "column lat is TEXT, with decimal commas such as '38,72': they are read in files separated by semicolons or tabs"},
		{mixed, all, 1, "column lat is TEXT because of line 3: 'n/a'; 1 cell is a number: correct such cells"},
		{projected, all, 1, "likely projected"},
		{nowhere, all, 1, "column lat has only NULL"},
		{edit("none.csv", header+"\n"), all, 1, "none.csv has no rows"},
		{filepath.Join(dir, "nosuch.csv"), all, 1, "there is no file"},
		{trips, append(reading, "0,10,0.1", "--unit", "deg"), 1, "all of the readings lie outside 0,10,0.1"},
		{trips, append(reading, "0,100,0.3", "--unit", "deg"), 1, "step 0.3 does not divide the range"},
		{trips, append(reading, "0,100"), 1, "a universe has three numbers"},
		{trips, append(reading, "0,100,0.1"), 2, "use --unit UNIT; also missing: --reading-epsilon-for --reading-limit"},
		{trips, append(reading, "0,100,0.1", "--unit", "m"), 1, `unit "m" is reserved`},
		{trips, append(reading, "0,100,0.1", "--unit", "deg"), 2, "use --reading-epsilon-for deg or --reading-epsilon E"},
	} {
		clitest.WantError(t, lastLine(clitest.Run(t, "", append([]string{"init", db, c.file}, c.flags...)...)), c.status, c.text)
		if left, _ := filepath.Glob(db + "*"); left != nil {
			t.Fatalf("%q left %v", c.flags, left)
		}
	}
	clitest.WantError(t, clitest.Run(t, "", append([]string{"init", filepath.Join(dir, "none", "x.db"), trips}, all...)...), 1, "there is no folder")
	clitest.WantError(t, clitest.Run(t, "", append([]string{"init", "city", trips}, all...)...), 2, "init: there is no database city; write ./city")
	clitest.WantError(t, clitest.Run(t, "", append([]string{"init", ":memory:", trips}, all...)...), 2, "must be a file")
	clitest.WantError(t, clitest.Run(t, "", append([]string{"init", db, trips, swapped, "--into", "x"}, all...)...), 2, "one FILE only")
	runInit(t, append([]string{db, trips}, all...)...)
	clitest.WantError(t, lastLine(clitest.Run(t, "", append([]string{"init", db, trips}, all...)...)), 1, "has a table trips already: choose another name with --into TABLE")
}

func must(t *testing.T, read func(string) ([]byte, error), name string) []byte {
	t.Helper()
	text, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Names that SQL or a shell would take for something else arrive as they are.
func TestInitOddNames(t *testing.T) {
	dir := t.TempDir()
	file := writeTo(t, filepath.Join(dir, "it's $a.csv"), "order,\"my \"\"lat\"\" $x\",current_time\nana,38.72,-9.14\n,38.73,-9.15\nbo,,-9.1\n")
	db := filepath.Join(dir, "it's.db")
	said := runInit(t, db, file, "--account", "order", "--lat", "my \"lat\" $x", "--lon", "current_time", "--box", "Lisbon", "--epsilon", "0.01", "--limit", "1")
	if !strings.Contains(strings.ReplaceAll(said, "\n", " "), `1 row without an account: functions refuse such rows; leave them out with WHERE "order" IS NOT NULL`) {
		t.Errorf("init says %q", said)
	}
	for _, command := range questionsIn(t, said) {
		runShell(t, dir, command)
	}
	if got := clitest.Query(t, "-csv", db, `SELECT account, spent FROM ledger_balance WHERE spent > 0 ORDER BY 1`); got != "account,spent\nana,0.03\n" {
		t.Errorf("spent %s", got)
	}
}

// Numbers are recognised as times by their size and the name of their column, in seconds and in milliseconds.
func TestInitTimesOfUnix(t *testing.T) {
	dir := t.TempDir()
	for name, times := range map[string][3]string{
		"t": {"1767225600", "1769904000", "seconds"}, "timestamp_ms": {"1767225600123", "1769904000456", "milliseconds"}, "Unix": {"1767225600.5", "1769904000.5", "seconds"},
	} {
		file := writeTo(t, filepath.Join(dir, name+".csv"), "meter,"+name+",kwh\n1,"+times[0]+",0.5\n1,"+times[1]+",0.7\n2,"+times[0]+",0.5\n")
		said := runInit(t, filepath.Join(dir, name+".db"), file, "--account", "meter", "--reading", "kwh", "--universe", "0,10,0.001,kWh", "--reading-epsilon", "5", "--reading-limit", "100")
		if !strings.Contains(said, ": times, which functions read as "+times[2]+" since 1970\n") {
			t.Errorf("init says %s", said)
		}
		if out := runShell(t, dir, questionsIn(t, said)[0]); !strings.Contains(out, "2026-01") || !strings.Contains(out, "2026-02") {
			t.Errorf("%s", out)
		}
	}
	file := writeTo(t, filepath.Join(dir, "n.csv"), "meter,number,kwh\n1,1767225600,0.5\n")
	if said := runInit(t, filepath.Join(dir, "n.db"), file, "--account", "meter", "--reading", "kwh", "--universe", "0,10,0.001,kWh", "--reading-epsilon", "5", "--reading-limit", "100"); strings.Contains(said, "since 1970") {
		t.Errorf("a number is taken for a time: %s", said)
	}
}
