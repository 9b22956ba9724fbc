package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/geosql/geosql/internal/cli/clitest"
	"github.com/geosql/geosql/internal/need"
	"github.com/geosql/geosql/internal/trials"
)

// Row counts are those published with the data sets' subsets.
func TestImportRealData(t *testing.T) {
	t.Parallel()
	for _, c := range trials.Some(t, 1, []struct{ file, types, check, want string }{
		{
			"geolife/points.csv.gz",
			"user,TEXT\ntrace,INTEGER\nt_utc,INTEGER\nlat,REAL\nlon,REAL\n",
			"SELECT count(*), count(DISTINCT user), min(lat), max(lon) FROM t", "1157478,19,22.147577,121.156224",
		},
		{
			"cabspotting/points.csv.gz",
			"cab,TEXT\nt_unix,INTEGER\nlat,REAL\nlon,REAL\noccupied,INTEGER\n",
			"SELECT count(*), count(DISTINCT cab) FROM t", "404261,18",
		},
		{
			"meters_sgsc/readings.csv.gz",
			"meter,INTEGER\nt_local,TEXT\nkwh,REAL\n",
			"SELECT count(*), count(DISTINCT meter), max(kwh) FROM t", "932215,60,5.141",
		},
		{
			"meters_ucihepc/hepc_2days.csv.gz",
			"Date,TEXT\nTime,TEXT\nGlobal_active_power,REAL\nGlobal_reactive_power,REAL\nVoltage,REAL\nGlobal_intensity,REAL\n" +
				"Sub_metering_1,INTEGER\nSub_metering_2,INTEGER\nSub_metering_3,INTEGER\n",
			"SELECT count(*), max(Global_active_power), sum(Sub_metering_3) FROM t", "2880,7.482,24483",
		},
	}...) {
		t.Run(filepath.Dir(c.file), func(t *testing.T) {
			file, db := need.Data(t, c.file), clitest.TempFile(t, "x.db")
			clitest.Import(t, db, "t", file)
			if got := clitest.Query(t, "-csv", db, typesSQL); got != "name,type\n"+c.types {
				t.Errorf("types %q", got)
			}
			lines := strings.Split(clitest.Query(t, "-csv", db, c.check), "\n")
			if row := lines[1]; row != c.want {
				t.Errorf("%s: %s, want %s", c.check, row, c.want)
			}
		})
	}
}
