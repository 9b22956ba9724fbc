package vdbe

// A Btree is a table or an index, as the caller of [Program.Disjoint] knows it by its root page.
type Btree struct {
	Table  string  // its name, or that of the table of an index; empty if it is not known
	Fields []Field // of its rows, in order
	Key    int     // how many of the first fields tell its rows apart; 0 for a table with numbers of rows
}

// A Field is one of the row of a table or of an index.
type Field struct {
	Column   int  // of the table, from 0; less for anything else
	Affinity byte // as instructions name it; 0 if it is not known
	Unique   bool // whether no two rows have equal bytes in it, unless they have NULL
	NotNull  bool
}

// field returns field i.
func (t *Btree) field(i int) Field {
	if i < len(t.Fields) {
		return t.Fields[i]
	}
	return Field{Column: -1}
}

// tells reports whether fields of an index are the first n of a table that it belongs to, and these tell its rows apart.
func (t Btree) tells(n int, index Btree, fields []int) bool {
	if t.Table == "" || t.Table != index.Table || t.Key == 0 || n < t.Key {
		return false
	}
	for k := range t.Key {
		if column := t.field(k).Column; column < 0 || column != index.field(fields[k]).Column {
			return false
		}
	}
	return true
}

// btree returns the table or index with a root page.
func (f *flow) btree(root [2]int) Btree { return f.btrees(root[0], root[1]) }
