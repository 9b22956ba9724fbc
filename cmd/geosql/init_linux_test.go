package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
)

// A person on a terminal, who takes wrong turns.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := clitest.Query(t, "-csv", ":memory:", tripRows)
	file := writeTo(t, filepath.Join(dir, "trips.csv"), strings.Replace(text, "lat,lon", "lon,lat", 1)) // swapped
	db := filepath.Join(dir, "city.db")
	c := newConsole(t, "init", db, file)
	for _, step := range []struct{ wait, keys string }{
		{"  person  TEXT     0  p00, p01, p02\n", ""},
		{"Column of the account [person]: ", "nobody\r"},
		{"  there is no column nobody (columns: person, t, lon, lat)\n", ""},
		{"Column of the account [person]: ", "\r"},
		{"Column of the time, or none [t]: ", "\r"},
		{"Column of the latitude, or none [lat]: ", "\r"},
		{"Column of the longitude [lon]: ", "lat\r"},
		{"  that is the latitude\n", ""},
		{"Column of the longitude [lon]: ", "\r"},
		{", or none [none]: ", "\r"},
		{"latitude and longitude may be swapped: as they are, the locations lie in\nTanzania, and the other way round in Lisbon\n", ""},
		{"Yes or no [no]: ", "maybe\r"},
		{"  type yes or no\n", ""},
		{"Yes or no [no]: ", "yes\r"},
		{"is not free to publish", ""},
		{"  1  Lisbon    38.5,-9.5,39,-8.9  holds all\n", ""},
		{"SOUTH,WEST,NORTH,EAST [1]: ", "9\r"},
		{"  the list has no number 9\n", ""},
		{"SOUTH,WEST,NORTH,EAST [1]: ", "Paris\r"},
		{"  all of the locations lie outside Paris", ""},
		{"SOUTH,WEST,NORTH,EAST [1]: ", "1\r"},
		{"    0.005         401          950         62 %       99.3 %\n", ""},
		{"(or eps E) [500]: ", "five hundred\r"},
		{`  "five hundred" is not a number` + "\n", ""},
		{"(or eps E) [500]: ", "eps 0.01\r"},
		{"epsilon 0.01 per metre: 95 % of the released locations are within 475 m", ""},
		{"would take 0.4 per\nmetre.\n", ""},
		{"(4x is 0.04) [4x]: ", "\r"},
		{"per record, or none [none]: ", "2\r"},
		{"[never]: ", "1y\r"},
		{"  write never, a number of seconds, or days such as 30d\n", ""},
		{"[never]: ", "\r"},
		{"SELECT geo_domain('lisbon', 38.5, -9.5, 39, -8.9, 1);\n", ""},
		{"[yes]: ", "\r"},
		{"imported 480 rows into table trips", ""},
		{"Three questions to ask next about trips:\n", ""},
	} {
		c.expect(step.wait)
		if step.keys != "" {
			if left, _ := filepath.Glob(db + "*"); left != nil {
				t.Fatalf("before the last answer there is %v", left)
			}
			c.press(step.keys)
		}
	}
	c.leave(0)
	if got := clitest.Query(t, "-csv", db, "SELECT count(*) FROM trips WHERE geo_outside('lisbon', lon, lat) = 0"); got != "count(*)\n480\n" {
		t.Errorf("inside are %s", got)
	}

	// The database is there now, and so are its declarations.
	second := writeTo(t, filepath.Join(dir, "more.csv"), text)
	c = newConsole(t, "init", db, second, "--account", "person", "--time", "none", "--lat", "lat", "--lon", "lon", "--reading", "none")
	c.expect("  1  lisbon (declared)  38.5,-9.5,39,-8.9  holds all\n")
	c.expect("[1]: ")
	c.press("\r")
	c.expect("(or eps E) [500]: ")
	c.press("1000\r")
	c.expect("(4x is 0.019) [0.04]: ")
	c.press("\r")
	c.expect("per record, or none [2]: ")
	c.press("\r")
	c.expect("[never]: ")
	c.press("\r")
	c.expect("-- The limit per m stays 0.04.\n")
	c.expect("[yes]: ")
	c.press("no\r")
	c.expect("geosql: init: nothing was changed")
	c.leave(1)
	if got := clitest.Query(t, "-csv", db, "SELECT name FROM sqlite_schema WHERE name LIKE 'more'"); got != "name\n" {
		t.Errorf("there is %s", got)
	}
}

// Each question has help and a default, and gives way to the one before. No line is wider than a narrow terminal.
func TestInitHelpsAndGoesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := madeUp(t, dir, "rides.csv", "SELECT person, unixepoch(t) AS at, lat, lon, 0.25 AS kwh FROM ("+tripRows+")")
	c := newConsole(t, "init", filepath.Join(dir, "x.db"), file)
	defaults := []string{"[person]: ", "[at]: ", "[lat]: ", "[lon]: ", "[none]: ", "[1]: ", "[500]: ", "[4x]: ", "[none]: ", "[never]: ", "[yes]: "}
	for i, preset := range defaults {
		c.expect(preset)
		for _, help := range []string{"help\r", "?\r"} {
			c.press(help)
			c.expect("leaves everything as it was.\n")
			c.expect(preset)
		}
		c.press("back\r")
		if i == 0 {
			c.expect("  This is the first question.\n")
		} else {
			c.expect(defaults[i-1])
			c.press("\x1b[A\x1b[A\x1b[B\x7f\x7f\x7f\x7f\r") // arrows: among earlier answers, back again, and nothing of it is left
		}
		c.expect(preset)
		c.press("\r")
	}
	c.leave(0)

	second := filepath.Join(dir, "y.db")
	c = newConsole(t, "init", second, file)
	for _, step := range []struct{ wait, keys string }{
		{"[person]: ", "\r"}, {"[at]: ", "kwh +01:00\r"}, {"  column kwh has no times", ""}, {"[at]: ", "at +05:30\r"},
		{"times in at: seconds since 1970, months and hours +05:30\n", ""}, {"[lat]: ", "none\r"}, {"[kwh]: ", "back\r"}, {"[lat]: ", "none\r"},
		{"or none [kwh]: ", "\r"}, {"[1]: ", "0,10,0.001\r"}, {"[kWh]: ", "\r"}, {"[3]: ", "\r"}, {"[4x]: ", "\r"}, {"[none]: ", "1\r"},
		{"[never]: ", "\r"}, {"[yes]: ", "\r"}, {"strftime('%Y-%m', at, 'unixepoch', '+05:30')", ""},
	} {
		c.expect(step.wait)
		c.press(step.keys)
	}
	c.leave(0)
	for line := range strings.Lines(c.shown()) {
		if len([]rune(strings.TrimSuffix(line, "\n"))) > 79 && !strings.Contains(line, dir) {
			t.Errorf("%d columns: %q", len([]rune(line))-1, line)
		}
	}
}

// Readings have a universe.
func TestInitAsksForUniverse(t *testing.T) {
	dir := t.TempDir()
	file, db := madeUp(t, dir, "meters.csv", meterRows), filepath.Join(dir, "energy.db")
	c := newConsole(t, "init", db, file)
	for _, step := range []struct{ wait, keys string }{
		{"Column of the account [meter]: ", "\r"},
		{"Column of the time, or none [t]: ", "\r"},
		{"Column of the latitude, or none [none]: ", "\r"},
		{", or none [kwh]: ", "none\r"},
		{"  without a location and a reading there is nothing to protect: name a column\n", ""},
		{", or none [kwh]: ", "\r"},
		{"never\nfrom the smallest and largest reading here", ""},
		{"  1  0,10,0.001    kWh  (half an hour", ""},
		{"LO,HI,STEP [1]: ", "0,0.4,0.001\r"},
		{" of the readings lie outside 0,0.4,0.001: is the unit another one", ""},
		{"LO,HI,STEP [1]: ", "0,20,0.001\r"},
		{"it names their budget [kWh]: ", "m\r"},
		{`  unit "m" is reserved` + "\n", ""},
		{"it names their budget [kWh]: ", "\r"},
		{"universe kwh: 0 to 20", ""},
		{"(or eps E) [6]: ", "3\r"},
		{"epsilon 0.999 per kWh: 95 % of sums are within 3 kWh", ""},
		{"(4x is 3.996) [4x]: ", "20\r"},
		{"[none]: ", "\r"},
		{"[never]: ", "30d\r"},
		{"SELECT budget_limit('*', 'kWh', 20, 2592000);\n", ""},
		{"[yes]: ", "\r"},
		{"# The mean of each month, with its error bar", ""},
	} {
		c.expect(step.wait)
		if step.keys != "" {
			c.press(step.keys)
		}
	}
	c.leave(0)
}

// The universes to choose from, and the first of them, are the same whatever the readings are: they come from the name of the
// column, never from its cells.
func TestInitOffersUniversesWithoutLooking(t *testing.T) {
	t.Parallel()
	for _, kwh := range []string{"0", "0.001", "9.5", "17", "4000", "-3", "1e9"} {
		dir := t.TempDir()
		file := writeTo(t, filepath.Join(dir, "meters.csv"), "meter,kwh\nana,0.5\nbo,"+kwh+"\ncem,0.7\n")
		c := newConsole(t, "init", filepath.Join(dir, "energy.db"), file, "--account", "meter", "--time", "none", "--lat", "none", "--lon", "none", "--reading", "kwh")
		c.expect("be tight.\n" +
			"  1  0,10,0.001    kWh  (half an hour of a household, up to 80 A)\n" +
			"  2  0,20,0.001    kWh  (an hour of a household)\n" +
			"  3  0,100,0.001   kWh  (a day of a household)\n" +
			"  4  0,5000,0.001  kWh  (a month of a household)\n" +
			"Universe: a number, or LO,HI,STEP [1]: ")
		c.press("\x03")
		c.expect("geosql: interrupted")
		c.leave(130)
	}
}

// Ctrl-C and Ctrl-D leave everything as it was, at every question.
func TestInitIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := madeUp(t, dir, "trips.csv", tripRows)
	questions := []struct{ wait, keys string }{
		{"[person]: ", "\r"}, {"[t]: ", "\r"}, {"[lat]: ", "\r"}, {"[lon]: ", "\r"}, {"[none]: ", "\r"}, {"[1]: ", "\r"},
		{"[500]: ", "\r"}, {"[4x]: ", "\r"}, {"[none]: ", "\r"}, {"[never]: ", "\r"}, {"[yes]: ", "\r"},
	}
	for last := range questions {
		db := filepath.Join(t.TempDir(), "city.db")
		c := newConsole(t, "init", db, file)
		for i := range last {
			c.expect(questions[i].wait)
			c.press(questions[i].keys)
		}
		c.expect(questions[last].wait)
		key, said, status := "\x03", "geosql: interrupted", 130
		if last%2 == 1 {
			key, said, status = "\x04", "geosql: init: nothing was changed", 1
		}
		c.press(key)
		c.expect(said)
		c.leave(status)
		if left, _ := os.ReadDir(filepath.Dir(db)); len(left) > 0 {
			t.Errorf("left at question %d, there is %v", last, left)
		}
	}
}

// Ctrl-C while rows are imported leaves no database, and an existing one as it was.
func TestInitIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rows := strings.Repeat("ana,38.72,-9.14\nbo,38.73,-9.15\n", 1_500_000) // which take seconds
	file, db := writeTo(t, filepath.Join(dir, "trips.csv"), "person,lat,lon\n"+rows), filepath.Join(dir, "city.db")
	interrupt := func() {
		t.Helper()
		c := newConsole(t, "init", db, file, "--account", "person", "--time", "none", "--lat", "lat", "--lon", "lon", "--reading", "none", "--box", "Lisbon",
			"--epsilon", "0.01", "--limit", "4x", "--record-limit", "none", "--window", "never", "--yes")
		c.wrote("importing: ")
		c.press("\x03")
		c.expect("geosql: interrupted")
		c.leave(130)
	}
	interrupt()
	if left, _ := filepath.Glob(db + "*"); left != nil {
		t.Fatalf("%v is left", left)
	}
	clitest.Query(t, db, "CREATE TABLE kept(a)")
	interrupt()
	if got := clitest.Query(t, "-csv", db, "SELECT name FROM sqlite_schema"); got != "name\nkept\n" {
		t.Errorf("there is %s", got)
	}
}
