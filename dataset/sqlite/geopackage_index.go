package sqlite

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/geosql/geosql/internal/sqlite"
)

// A GeoPackage's spatial index is an extension of the standard (annex F.3): a virtual table
// of SQLite's module rtree, which every supported build of SQLite has, a row that announces
// it, and triggers that keep it up to date.

// indexDefinition says where the extension is defined. Programs compare it with this text.
const indexDefinition = "http://www.geopackage.org/spec120/#extension_rtree"

// indexTriggers are the triggers of the standard for the table T with the key I, the column
// C of geometries and the index R. The standard requires them. They never run in a release,
// but in programs that edit the file. Those have the functions ST_IsEmpty, ST_MinX, .., which
// plain SQLite lacks: there an edit of a geometry fails, instead of leaving the index wrong.
const indexTriggers = `
CREATE TRIGGER {R_insert} AFTER INSERT ON {T}
  WHEN (new.{C} NOT NULL AND NOT ST_IsEmpty(NEW.{C}))
BEGIN
  INSERT OR REPLACE INTO {R} VALUES (NEW.{I}, ST_MinX(NEW.{C}), ST_MaxX(NEW.{C}), ST_MinY(NEW.{C}), ST_MaxY(NEW.{C}));
END;
CREATE TRIGGER {R_update1} AFTER UPDATE OF {C} ON {T}
  WHEN OLD.{I} = NEW.{I} AND (NEW.{C} NOTNULL AND NOT ST_IsEmpty(NEW.{C}))
BEGIN
  INSERT OR REPLACE INTO {R} VALUES (NEW.{I}, ST_MinX(NEW.{C}), ST_MaxX(NEW.{C}), ST_MinY(NEW.{C}), ST_MaxY(NEW.{C}));
END;
CREATE TRIGGER {R_update2} AFTER UPDATE OF {C} ON {T}
  WHEN OLD.{I} = NEW.{I} AND (NEW.{C} ISNULL OR ST_IsEmpty(NEW.{C}))
BEGIN
  DELETE FROM {R} WHERE id = OLD.{I};
END;
CREATE TRIGGER {R_update3} AFTER UPDATE ON {T}
  WHEN OLD.{I} != NEW.{I} AND (NEW.{C} NOTNULL AND NOT ST_IsEmpty(NEW.{C}))
BEGIN
  DELETE FROM {R} WHERE id = OLD.{I};
  INSERT OR REPLACE INTO {R} VALUES (NEW.{I}, ST_MinX(NEW.{C}), ST_MaxX(NEW.{C}), ST_MinY(NEW.{C}), ST_MaxY(NEW.{C}));
END;
CREATE TRIGGER {R_update4} AFTER UPDATE ON {T}
  WHEN OLD.{I} != NEW.{I} AND (NEW.{C} ISNULL OR ST_IsEmpty(NEW.{C}))
BEGIN
  DELETE FROM {R} WHERE id IN (OLD.{I}, NEW.{I});
END;
CREATE TRIGGER {R_delete} AFTER DELETE ON {T}
  WHEN old.{C} NOT NULL
BEGIN
  DELETE FROM {R} WHERE id = OLD.{I};
END;
`

// An indexEntry is a row of the layer, or a node of the index, with its bounding box. Longitude
// is x. The box holds the location, although that has coordinates of more digits.
type indexEntry struct {
	id                     int64 // fid of the row or number of the node
	minX, maxX, minY, maxY float32
}

func newIndexEntry(id int64, lat, lon float64) indexEntry {
	return indexEntry{id, atMost(lon), -atMost(-lon), atMost(lat), -atMost(-lat)}
}

// atMost returns the largest float32 that is not above x.
func atMost(x float64) float32 {
	f := float32(x)
	if float64(f) > x {
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

// tile sorts entries so that every run of n of them, from the first on, lies together: into
// slices by longitude, and each slice by latitude (Leutenegger, Lopez and Edgington, STR: A
// Simple and Efficient Algorithm for R-Tree Packing (1997)).
func tile(entries []indexEntry, n int) {
	slices.SortFunc(entries, func(a, b indexEntry) int { return cmp.Compare(a.minX+a.maxX, b.minX+b.maxX) })
	runs := (len(entries) + n - 1) / n
	for slice := range slices.Chunk(entries, n*max(1, int(math.Ceil(math.Sqrt(float64(runs)))))) {
		slices.SortFunc(slice, func(a, b indexEntry) int { return cmp.Compare(a.minY+a.maxY, b.minY+b.maxY) })
	}
}

// A geoPackageIndex writes the index. Inserting into the virtual table would take five times as
// long as all else, so the nodes are packed batch by batch, and written as the module does: to
// the tables that hold its nodes, the node of each row, and the parent of each other node. Node
// 1 is the root. Memory holds an entry for each leaf.
type geoPackageIndex struct {
	size    int // of a node in bytes
	last    int64
	nodes   []indexEntry // of the level that has no parents yet
	inNode  []int64      // for the rows of a batch; 0 for one without geometry
	addNode *sqlite.Stmt
	addRow  *sqlite.Stmt
}

const (
	nodeHeader = 4       // the depth of the tree in the root, and the number of entries
	entrySize  = 8 + 4*4 // of an entry in a node
	rootNode   = 1
)

// indexName returns the name of the index.
func (w *geoPackageWriter) indexName() string {
	return "rtree_" + w.schema.Name + "_" + w.geometryName()
}

// indexTable returns the name, quoted, of one of the tables that hold the index.
func (w *geoPackageWriter) indexTable(suffix string) string {
	return sqlite.QuoteName(w.indexName() + suffix)
}

// createIndex creates the empty index.
func (w *geoPackageWriter) createIndex() error {
	err := w.conn.Exec("CREATE VIRTUAL TABLE " + w.indexTable("") + " USING rtree(id, minx, maxx, miny, maxy)")
	if err == nil {
		err = w.run("INSERT INTO gpkg_extensions VALUES (?1, ?2, 'gpkg_rtree_index', ?3, 'write-only')", w.schema.Name, w.geometryName(), indexDefinition)
	}
	if err != nil {
		return err
	}
	x := &w.index
	x.last = rootNode
	// The root is empty, and as large as every node.
	err = w.conn.Each("SELECT length(data) FROM "+w.indexTable("_node"), func(row []sqlite.Value) error {
		x.size = int(row[0].Int())
		return nil
	})
	if err != nil {
		return err
	}
	if x.addNode, _, err = w.conn.Prepare("REPLACE INTO " + w.indexTable("_node") + " VALUES (?1, ?2)"); err != nil {
		return err
	}
	x.addRow, _, err = w.conn.Prepare("INSERT INTO " + w.indexTable("_rowid") + " VALUES (?1, ?2)")
	return err
}

// capacity returns how many entries a node has at most.
func (x *geoPackageIndex) capacity() int { return (x.size - nodeHeader) / entrySize }

// add adds the tiled entries of a batch. Their ids are the numbers of its rows, from 0 on. The
// first row has the given fid.
func (x *geoPackageIndex) add(entries []indexEntry, rows int, first int64) error {
	x.inNode = append(x.inNode[:0], make([]int64, rows)...)
	for leaf := range slices.Chunk(entries, x.capacity()) {
		node, err := x.write(leaf, first)
		if err != nil {
			return err
		}
		for _, e := range leaf {
			x.inNode[e.id] = node
		}
	}
	for row, node := range x.inNode {
		if node == 0 {
			continue
		}
		x.addRow.BindInts(1, first+int64(row), node)
		if err := x.addRow.Run(); err != nil {
			return err
		}
	}
	return nil
}

// write writes a node with a new number, and adds it to those without a parent. The ids of its
// entries are counted from a first one.
func (x *geoPackageIndex) write(entries []indexEntry, first int64) (node int64, err error) {
	x.last++
	box := entries[0]
	box.id = x.last
	for _, e := range entries {
		box.minX, box.maxX = min(box.minX, e.minX), max(box.maxX, e.maxX)
		box.minY, box.maxY = min(box.minY, e.minY), max(box.maxY, e.maxY)
	}
	x.nodes = append(x.nodes, box)
	return x.last, x.writeNode(x.last, 0, entries, first)
}

// writeNode writes the node of that number.
func (x *geoPackageIndex) writeNode(node int64, depth int, entries []indexEntry, first int64) error {
	data := make([]byte, 0, x.size)
	data = binary.BigEndian.AppendUint16(data, uint16(depth))
	data = binary.BigEndian.AppendUint16(data, uint16(len(entries)))
	for _, e := range entries {
		data = binary.BigEndian.AppendUint64(data, uint64(first+e.id))
		for _, v := range [...]float32{e.minX, e.maxX, e.minY, e.maxY} {
			data = binary.BigEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	x.addNode.BindInts(1, node)
	x.addNode.BindBlob(2, data[:x.size])
	return x.addNode.Run()
}

// finishIndex writes the nodes above the leaves, and the triggers.
func (w *geoPackageWriter) finishIndex() error {
	x := &w.index
	parent, _, err := w.conn.Prepare("INSERT INTO " + w.indexTable("_parent") + " VALUES (?1, ?2)")
	if err != nil {
		return err
	}
	defer parent.Close()
	under := func(node int64, children []indexEntry) error {
		for _, c := range children {
			parent.BindInts(1, c.id, node)
			if err := parent.Run(); err != nil {
				return err
			}
		}
		return nil
	}
	depth := 1
	for ; len(x.nodes) > x.capacity(); depth++ {
		level := x.nodes
		x.nodes = nil
		tile(level, x.capacity())
		for children := range slices.Chunk(level, x.capacity()) {
			node, err := x.write(children, 0)
			if err == nil {
				err = under(node, children)
			}
			if err != nil {
				return err
			}
		}
	}
	switch len(x.nodes) {
	case 0: // the root stays empty
	case 1: // a root has no single child: the only leaf, which has number 2, becomes the root
		err := w.conn.Exec("DELETE FROM " + w.indexTable("_node") + " WHERE nodeno = 1; UPDATE " + w.indexTable("_node") + " SET nodeno = 1; " +
			"UPDATE " + w.indexTable("_rowid") + " SET nodeno = 1")
		if err != nil {
			return err
		}
	default:
		if err := x.writeNode(rootNode, depth, x.nodes, 0); err != nil {
			return err
		}
		if err := under(rootNode, x.nodes); err != nil {
			return err
		}
	}
	return w.createTriggers()
}

// close frees the statements.
func (x *geoPackageIndex) close() {
	x.addNode.Close()
	x.addRow.Close()
}

// createTriggers creates the triggers. That comes last, since they would run for rows that
// are inserted.
func (w *geoPackageWriter) createTriggers() error {
	pairs := []string{"{T}", sqlite.QuoteName(w.schema.Name), "{I}", sqlite.QuoteName(w.fidName()), "{C}", sqlite.QuoteName(w.geometryName()), "{R}", sqlite.QuoteName(w.indexName())}
	for _, event := range []string{"insert", "update1", "update2", "update3", "update4", "delete"} {
		pairs = append(pairs, "{R_"+event+"}", sqlite.QuoteName(w.indexName()+"_"+event))
	}
	return w.conn.Exec(strings.NewReplacer(pairs...).Replace(indexTriggers))
}
