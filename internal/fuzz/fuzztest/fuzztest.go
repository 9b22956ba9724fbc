// Package fuzztest has helpers for fuzz targets, and other tests of readers, of several packages.
package fuzztest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/geosql/geosql/internal/doctest"
)

// Limit ends the process unless the test ends within a time. A fuzzer takes an input that ends its
// process for one that fails, and keeps it; one that hangs would only stop it.
func Limit(tb testing.TB, within time.Duration) {
	timer := time.AfterFunc(within, func() { panic(fmt.Sprintf("%s takes longer than %v", tb.Name(), within)) })
	tb.Cleanup(func() { timer.Stop() })
}

// Linear tests that readers of a statement take twice as much memory for twice the length, and do not take hours.
func Linear(t *testing.T, readers map[string]func(sql string)) {
	const n, little = 250_000, 1 << 20
	for name, read := range readers {
		for what, text := range map[string][3]string{
			"terms":      {"SELECT printf('%d', 1", "+1", ")"},
			"arguments":  {"SELECT printf('%d', 1", ",1", ")"},
			"calls":      {"SELECT 1", "+printf(1,2)", ""},
			"groups":     {"SELECT 1", "+sum(a)", ""},
			"comments":   {"", "/* a */ ", "SELECT 1"},
			"operators":  {"SELECT a", "<b", ""},
			"semicolons": {"", ";", ""},
			"quotes":     {"SELECT printf(", "'a'", ")"},
			"brackets":   {"SELECT ", "[", ""},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				Limit(t, time.Minute)
				allocated := func(n int) float64 {
					sql := text[0] + strings.Repeat(text[1], n/len(text[1])) + text[2]
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					read(sql)
					runtime.ReadMemStats(&after)
					return float64(after.TotalAlloc - before.TotalAlloc)
				}
				if once, twice := allocated(n), allocated(2*n); twice > 2.5*once+little {
					t.Errorf("%.0f bytes for a text, and %.0f for one twice as long", once, twice)
				}
			})
		}
	}
}

// comment matches the rest of a line that is a comment of its own, or begins one after a statement.
var comment = regexp.MustCompile(`(?m)^\s*--.*\n|(;)\s+--.*$`)

// Statements returns the statements of the scripts and pages that match patterns of filepath.Glob.
// In a page they are those of blocks of SQL.
func Statements(tb testing.TB, patterns ...string) (all []string) {
	tb.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || files == nil {
			tb.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			sql := string(text)
			if filepath.Ext(file) == ".md" {
				sql = sqlOf(tb, file, sql)
			}
			for statement := range strings.SplitSeq(comment.ReplaceAllString(sql, "$1"), ";\n") {
				if statement = strings.TrimSpace(statement); statement != "" {
					all = append(all, strings.TrimSuffix(statement, ";"))
				}
			}
		}
	}
	return all
}

// sqlOf returns the SQL of a page.
func sqlOf(tb testing.TB, file, page string) string {
	blocks, err := doctest.Blocks(page)
	if err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	var sql strings.Builder
	for _, b := range blocks {
		if b.Language == "sql" {
			sql.WriteString(b.Code + ";\n")
		}
	}
	return sql.String()
}
