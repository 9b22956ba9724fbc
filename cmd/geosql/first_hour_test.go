package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// firstHourBlock is a block of commands in docs/first-hour.md, with what the page shows as its
// output, if it shows any.
var firstHourBlock = regexp.MustCompile("(?s)```\n(.*?)```\n((?:\n(?:    [^\n]*\n)+)?)")

// The commands of docs/first-hour.md run as they stand, one after the other, and print what the
// page shows: init to the letter, and questions the same columns, since their noise differs.
func TestFirstHour(t *testing.T) {
	page, err := os.ReadFile("../../docs/first-hour.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := firstHourBlock.FindAllStringSubmatch(string(page), -1)
	shown := 0
	for _, block := range blocks {
		script, want := block[1], strings.Split(strings.Trim(block[2], "\n"), "\n")
		out := runShell(t, dir, "exec 2>&1\n"+script)
		switch {
		case block[2] == "":
		case strings.HasPrefix(script, "geosql init "):
			shown++
			for _, line := range strings.Split(strings.Trim(block[2], "\n"), "\n") {
				if line = strings.TrimPrefix(line, "    "); line != ".." && !strings.Contains(out, line+"\n") {
					t.Errorf("%s does not print %q but %s", script, line, out)
				}
			}
		default:
			shown++
			rows := strings.Split(strings.TrimRight(out, "\n"), "\n")
			if got := strings.Fields(rows[0]); strings.Join(got, " ") != strings.Join(strings.Fields(want[0]), " ") || len(rows) != len(want) {
				t.Errorf("%s prints %s, and the page shows %s", script, out, block[2])
			}
		}
	}
	if questions := strings.Count(string(page), "\n**"); questions != 10 || shown < 10 {
		t.Errorf("the page has %d questions and shows %d outputs", questions, shown)
	}
	for _, file := range []string{"heat.geojson", "released.geojson", "released.csv"} {
		if text, err := os.ReadFile(dir + "/" + file); err != nil || strings.Count(string(text), "\n") < 4 {
			t.Errorf("%s is %q, %v", file, text, err)
		}
	}
}
