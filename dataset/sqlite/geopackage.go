package sqlite

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/internal/geom"
	"github.com/geosql/geosql/internal/printable"
	"github.com/geosql/geosql/internal/sqlite"
)

// A geoPackageWriter writes a GeoPackage 1.3 (OGC 12-128r17) with one layer and
// a spatial index of its geometries. Its file is new, so that no free page holds
// anything unreleased.
type geoPackageWriter struct {
	schema  dataset.Schema
	columns []int // the columns that are attributes
	conn    *sqlite.Conn
	insert  *sqlite.Stmt
	rows    int64 // in the layer; the last one's fid
	index   geoPackageIndex
	bounds  geom.Bounds
}

// geoPackagePragmas sets up the file. It is written without a journal, since nobody needs
// an unfinished file.
const geoPackagePragmas = `
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA application_id = 0x47504B47;
PRAGMA user_version = 10300;
BEGIN;
`

// geoPackageTables creates the tables that the standard requires (sections 1.1.2, 1.1.3,
// 2.1.5 and 2.3.2) with the three reference systems that it requires.
const geoPackageTables = `
CREATE TABLE gpkg_spatial_ref_sys (
  srs_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL PRIMARY KEY,
  organization TEXT NOT NULL,
  organization_coordsys_id INTEGER NOT NULL,
  definition TEXT NOT NULL,
  description TEXT
);
INSERT INTO gpkg_spatial_ref_sys VALUES
  ('Undefined Cartesian', -1, 'NONE', -1, 'undefined', NULL),
  ('Undefined geographic', 0, 'NONE', 0, 'undefined', NULL),
  ('WGS 84', 4326, 'EPSG', 4326, 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AUTHORITY["EPSG","4326"]]', NULL);
CREATE TABLE gpkg_contents (
  table_name TEXT NOT NULL PRIMARY KEY,
  data_type TEXT NOT NULL,
  identifier TEXT UNIQUE,
  description TEXT DEFAULT '',
  last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
  min_x DOUBLE,
  min_y DOUBLE,
  max_x DOUBLE,
  max_y DOUBLE,
  srs_id INTEGER,
  CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id)
);
CREATE TABLE gpkg_geometry_columns (
  table_name TEXT NOT NULL,
  column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL,
  srs_id INTEGER NOT NULL,
  z TINYINT NOT NULL,
  m TINYINT NOT NULL,
  CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
  CONSTRAINT uk_gc_table_name UNIQUE (table_name),
  CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
  CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id)
);
CREATE TABLE gpkg_extensions (
  table_name TEXT,
  column_name TEXT,
  extension_name TEXT NOT NULL,
  definition TEXT NOT NULL,
  scope TEXT NOT NULL,
  CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name)
);
`

func createGeoPackage(file *os.File, s dataset.Schema) (dataset.Writer, error) {
	w := &geoPackageWriter{schema: s, columns: s.Attributes()}
	var err error
	if w.conn, err = sqlite.Open(file.Name(), sqlite.ReadWrite); err != nil {
		return nil, err
	}
	if err := w.create(); err != nil {
		w.conn.Close()
		return nil, err
	}
	return w, nil
}

// checkNames refuses names that SQLite would refuse with a less clear error.
func checkNames(s dataset.Schema) error {
	lower := strings.ToLower(s.Name)
	if lower == "" || strings.HasPrefix(lower, "gpkg_") || strings.HasPrefix(lower, "rtree_") || strings.HasPrefix(lower, "sqlite_") {
		return fmt.Errorf("a layer of a GeoPackage cannot have the name %q", s.Name)
	}
	seen := make(map[string]bool)
	for _, i := range s.Attributes() {
		name := strings.ToLower(s.Fields[i].Name)
		if seen[name] {
			return fmt.Errorf("two columns of a GeoPackage would have the name %s", printable.Text(name))
		}
		seen[name] = true
	}
	return nil
}

func (w *geoPackageWriter) create() (err error) {
	layer, geometry := sqlite.QuoteName(w.schema.Name), w.geometryName()
	table := "CREATE TABLE " + layer + " (" + sqlite.QuoteName(w.fidName()) + " INTEGER PRIMARY KEY NOT NULL, " + sqlite.QuoteName(geometry) + " POINT"
	for _, i := range w.columns {
		table += ", " + sqlite.QuoteName(w.schema.Fields[i].Name) + " " + strings.ToUpper(w.schema.Fields[i].Kind.String())
	}
	if err := w.conn.Exec(geoPackagePragmas + geoPackageTables + table + ")"); err != nil {
		return err
	}
	err = w.run("INSERT INTO gpkg_contents (table_name, data_type, identifier, srs_id) VALUES (?1, 'features', ?1, 4326)", w.schema.Name)
	if err == nil {
		err = w.run("INSERT INTO gpkg_geometry_columns VALUES (?1, ?2, 'POINT', 4326, 0, 0)", w.schema.Name, geometry)
	}
	if err == nil {
		w.insert, _, err = w.conn.Prepare("INSERT INTO " + layer + " VALUES (?" + strings.Repeat(", ?", len(w.columns)+1) + ")")
	}
	if err == nil {
		err = w.createIndex()
	}
	return err
}

// fidName returns the name of the column of the rows' numbers.
func (w *geoPackageWriter) fidName() string { return w.schema.FreeName("fid") }

// geometryName returns the name of the column of geometries.
func (w *geoPackageWriter) geometryName() string { return w.schema.FreeName("geom") }

// run runs a statement that has no rows.
func (w *geoPackageWriter) run(sql string, parameters ...any) error {
	return w.conn.Each(sql, nil, parameters...)
}

// A geoPackageBlock is a batch with its numbers parsed.
type geoPackageBlock struct {
	rows     *dataset.Rows
	bounds   geom.Bounds
	geometry []byte       // geometrySize bytes for each row
	index    []indexEntry // tiled, of the rows with geometry
	null     []bool       // the rows without geometry
	numbers  [][]uint64   // for each numeric attribute: the bits of its int64s or float64s
	blank    [][]bool     // for the same: the cells that are NULL
}

// geometryHeader precedes the WKB (section 2.1.3): magic, version 0, a byte of flags for
// little-endian and no envelope, and 4326.
const geometryHeader = "GP\x00\x01\xe6\x10\x00\x00"

const geometrySize = len(geometryHeader) + geom.WKBSize

func (w *geoPackageWriter) Encode(rows *dataset.Rows) (dataset.Block, error) {
	n := rows.Len()
	g := &geoPackageBlock{rows: rows, geometry: make([]byte, 0, n*geometrySize), null: make([]bool, n), index: make([]indexEntry, 0, n),
		numbers: make([][]uint64, len(w.columns)), blank: make([][]bool, len(w.columns))}
	for i := range n {
		lat, lon, null, err := w.schema.Location(rows, i)
		if err != nil {
			return nil, err
		}
		g.geometry = geom.AppendWKB(append(g.geometry, geometryHeader...), lat, lon)
		if g.null[i] = null; !null {
			g.bounds.Add(lat, lon)
			g.index = append(g.index, newIndexEntry(int64(i), lat, lon))
		}
	}
	tile(g.index, w.index.capacity())
	for c := range w.columns {
		if err := w.parse(g, c); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// parse checks the cells of attribute c and parses numbers.
func (w *geoPackageWriter) parse(g *geoPackageBlock, c int) error {
	column, field := &g.rows.Columns[w.columns[c]], w.schema.Fields[w.columns[c]]
	if field.Kind != dataset.Text {
		g.numbers[c], g.blank[c] = make([]uint64, column.Len()), make([]bool, column.Len())
	}
	for i := range column.Len() {
		var ok bool
		switch field.Kind {
		case dataset.Integer:
			var v int64
			v, g.blank[c][i], ok = column.Integer(i)
			g.numbers[c][i] = uint64(v)
		case dataset.Real:
			var v float64
			v, g.blank[c][i], ok = column.Real(i)
			g.numbers[c][i] = math.Float64bits(v)
			ok = ok && !math.IsInf(v, 0) && !math.IsNaN(v)
		default:
			text, _ := column.At(i)
			ok = utf8.Valid(text)
		}
		if !ok {
			return g.rows.MisfitError(i, w.columns[c], field)
		}
	}
	return nil
}

func (w *geoPackageWriter) Append(block dataset.Block) error {
	g := block.(*geoPackageBlock)
	for i := range g.null {
		w.rows++
		w.insert.BindInts(1, w.rows)
		if g.null[i] {
			w.insert.BindNull(2)
		} else {
			w.insert.BindBlob(2, g.geometry[i*geometrySize:][:geometrySize])
		}
		for c := range w.columns {
			w.bind(g, c, i)
		}
		if err := w.insert.Run(); err != nil {
			return err
		}
	}
	w.bounds.Merge(g.bounds)
	return w.index.add(g.index, len(g.null), w.rows-int64(len(g.null))+1)
}

// bind binds attribute c of row i.
func (w *geoPackageWriter) bind(g *geoPackageBlock, c, i int) {
	kind := w.schema.Fields[w.columns[c]].Kind
	if kind == dataset.Text {
		if text, null := g.rows.Columns[w.columns[c]].At(i); !null {
			w.insert.BindText(c+3, string(text))
			return
		}
	} else if !g.blank[c][i] {
		if kind == dataset.Integer {
			w.insert.BindInts(c+3, int64(g.numbers[c][i]))
		} else {
			w.insert.BindFloat(c+3, math.Float64frombits(g.numbers[c][i]))
		}
		return
	}
	w.insert.BindNull(c + 3)
}

func (w *geoPackageWriter) Close() error {
	w.insert.Close()
	err := w.finishIndex()
	w.index.close()
	if err == nil {
		err = w.writeBounds()
	}
	if err == nil {
		err = w.conn.Exec("COMMIT")
	}
	return cmp.Or(err, w.conn.Close())
}

// writeBounds writes the bounding box of the geometries. It stays NULL if there are none.
func (w *geoPackageWriter) writeBounds() error {
	if !w.bounds.Some {
		return nil
	}
	b := w.bounds
	return w.run("UPDATE gpkg_contents SET min_x = ?1, min_y = ?2, max_x = ?3, max_y = ?4", b.West, b.South, b.East, b.North)
}
