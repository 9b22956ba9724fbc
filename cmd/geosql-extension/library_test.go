package main_test

import (
	"debug/elf"
	"slices"
	"strings"
	"testing"
)

// The library needs the C library and nothing else. It neither has nor looks for a
// symbol of SQLite's: it knows those of its host through the table that loading
// passes to it. Symbols that it does not export cannot get mixed up with another extension.
func TestNothingLinkedIn(t *testing.T) {
	needTools(t)
	checkLinked(t, library.path(t), "sqlite3_extension_init", "sqlite3_geosql_init")
	checkLinked(t, forTests.path(t), "sqlite3_geosqltest_init") // no name by which it is taken for the other
}

// checkLinked checks a library that has the entries.
func checkLinked(t *testing.T, path string, entries ...string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil || !slices.Equal(needed, []string{"libc.so.6"}) {
		t.Errorf("needs %v, %v", needed, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var defined []string
	for _, s := range symbols {
		ours := strings.HasPrefix(s.Name, "sqlite3") || strings.HasPrefix(s.Name, "gs_") || strings.HasPrefix(s.Name, "geosql")
		switch {
		case s.Section == elf.SHN_UNDEF && ours:
			t.Errorf("looks for %s", s.Name)
		case s.Section != elf.SHN_UNDEF && ours:
			defined = append(defined, s.Name)
		}
	}
	slices.Sort(defined)
	if !slices.Equal(defined, entries) {
		t.Errorf("exports %v", defined)
	}
	if flags, err := f.DynValue(elf.DT_FLAGS_1); err != nil || len(flags) != 1 || elf.DynFlag1(flags[0])&elf.DF_1_NODELETE == 0 {
		t.Errorf("can be unloaded: flags %v, %v", flags, err)
	}
	const carriesSQLite = "CREATE TABLE sqlite_master" // in every copy of SQLite
	for _, s := range f.Sections {
		if data, err := s.Data(); err == nil && strings.Contains(string(data), carriesSQLite) {
			t.Errorf("section %s holds SQLite's own text", s.Name)
		}
	}
}
