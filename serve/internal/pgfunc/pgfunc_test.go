package pgfunc

import (
	"fmt"
	"testing"
)

// call calls a function as SQLite does.
func call(t *testing.T, name string, args ...any) (any, error) {
	t.Helper()
	for _, f := range List() {
		if f.Name != name {
			continue
		}
		for _, a := range args {
			if a == nil && f.Strict {
				return nil, nil
			}
		}
		return f.Call(args)
	}
	t.Fatalf("there is no function %s", name)
	return nil, nil
}

// Answers are those of PostgreSQL 15, most of them from the examples of its documentation.
func TestFunctions(t *testing.T) {
	for group, cases := range map[string][]struct {
		name string
		args []any
		want string
	}{
		"casts": {
			{"pg_int4", []any{"12"}, "12"}, {"pg_int8", []any{2.5}, "2"}, {"pg_int8", []any{3.5}, "4"}, {"pg_int2", []any{nil}, "<nil>"},
			{"pg_date", []any{"2024-02-29 12:00:00"}, "2024-02-29"}, {"pg_plus", []any{"2001-09-28", int64(7)}, "2001-10-05"},
			{"pg_minus", []any{"2001-10-01", "2001-09-28"}, "3"}, {"pg_numeric", []any{"2.345", int64(5), int64(2)}, "2.35"},
		},
		"patterns": {
			{"regexp", []any{"^th", "thomas"}, "true"}, {"regexp", []any{"^(b|c)", "abc"}, "false"},
			{"regexp_replace", []any{"foobarbaz", "b..", "X"}, "fooXbaz"}, {"regexp_replace", []any{"foobarbaz", "b(..)", `X\1Y`, "g"}, "fooXarYXazY"},
		},
		"texts": {
			{"split_part", []any{"abc~@~def~@~ghi", "~@~", int64(2)}, "def"}, {"split_part", []any{"abc,def,ghi,jkl", ",", int64(-2)}, "ghi"},
			{"starts_with", []any{"alphabet", "alph"}, "true"}, {"left", []any{"abcde", int64(2)}, "ab"}, {"right", []any{"abcde", int64(-2)}, "cde"},
			{"lpad", []any{"hi", int64(5), "xy"}, "xyxhi"}, {"rpad", []any{"hi", int64(5), "xy"}, "hixyx"}, {"repeat", []any{"Pg", int64(4)}, "PgPgPgPg"},
			{"reverse", []any{"abcde"}, "edcba"}, {"initcap", []any{"hi THOMAS"}, "Hi Thomas"}, {"pg_bool", []any{"yes"}, "true"},
		},
		"numbers": {
			{"greatest", []any{int64(3), nil, int64(5)}, "5"}, {"least", []any{"b", "a"}, "a"}, {"div", []any{int64(9), int64(4)}, "2"},
			{"width_bucket", []any{5.35, 0.024, 10.06, int64(5)}, "3"}, {"trunc", []any{42.4382, int64(2)}, "42.43"},
		},
		"times": {
			{"date_part", []any{"day", "2001-02-16 20:38:40"}, "16"}, {"date_part", []any{"dow", "2001-02-16 20:38:40"}, "5"},
			{"date_part", []any{"isoyear", "2006-01-01"}, "2005"}, {"date_trunc", []any{"hour", "2001-02-16 20:38:40"}, "2001-02-16 20:00:00"},
			{"date_bin", []any{"15 minutes", "2001-02-16 20:38:40", "2001-02-16 20:05:00"}, "2001-02-16 20:35:00"},
			{"make_date", []any{int64(2013), int64(7), int64(15)}, "2013-07-15"},
			{"timezone", []any{"America/Denver", "2001-02-16 20:38:40"}, "2001-02-17 03:38:40+00"},
		},
		"intervals": {
			{"age", []any{"2001-04-10", "1957-06-13"}, "43 years 9 mons 27 days"}, {"pg_interval", []any{"1 day 24 hours"}, "1 day 24:00:00"},
			{"pg_add", []any{"2001-09-28", "1 hour"}, "2001-09-28 01:00:00"}, {"pg_subtract", []any{"2001-09-28 23:00:00", "23 hours"}, "2001-09-28 00:00:00"},
			{"pg_multiply", []any{int64(21), "1 day"}, "21 days"}, {"pg_divide", []any{"1 hour", 1.5}, "00:40:00"},
		},
		"formats": {
			{"to_char", []any{"2002-04-20 17:31:12.66", "HH12:MI:SS"}, "05:31:12"}, {"to_char", []any{int64(125), "999"}, " 125"},
			{"to_char", []any{-125.8, "999D99S"}, "125.80-"}, {"to_char", []any{int64(1485), "9,999"}, " 1,485"},
			{"to_date", []any{"05 Dec 2000", "DD Mon YYYY"}, "2000-12-05"}, {"to_timestamp", []any{int64(1284352323)}, "2010-09-13 04:32:03+00"},
		},
		"arrays": {
			{"string_to_array", []any{"xx~~yy~~zz", "~~"}, "{xx,yy,zz}"}, {"array_to_string", []any{"{1,2,3,NULL,5}", ",", "*"}, "1,2,3,*,5"},
			{"array_length", []any{"{1,2,3}", int64(1)}, "3"}, {"pg_array", []any{`[1,"a b",null]`}, `{1,"a b",NULL}`},
		},
	} {
		for _, c := range cases {
			if got, err := call(t, c.name, c.args...); err != nil || fmt.Sprint(got) != c.want {
				t.Errorf("%s: %s%q = %v, %v, want %s", group, c.name, c.args, got, err, c.want)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []any
		state string
	}{
		{"pg_int4", []any{"12abc"}, CodeBadText}, {"pg_int4", []any{int64(1) << 40}, CodeOutOfRange}, {"pg_date", []any{"2026-02-30"}, CodeTimeRange},
		{"regexp", []any{"(", "a"}, CodeBadPattern}, {"pg_bool", []any{"maybe"}, CodeBadText}, {"repeat", []any{"a", int64(10_000_000)}, CodeLimitExceeded},
		{"array_length", []any{"{a", int64(1)}, CodeBadText}, {"pg_interval", []any{"1 parsec"}, CodeBadTime},
	} {
		if got, err := call(t, c.name, c.args...); State(err) != c.state {
			t.Errorf("%s%q = %v, %v, want %s", c.name, c.args, got, err, c.state)
		}
	}
}
