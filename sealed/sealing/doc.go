// Package sealing makes sealed databases of plain ones. [Read] reads the columns that are to be
// sealed or public, [Contents.Dependences] tells which public ones tell something of sealed ones,
// and [Contents.Seal] writes a new database. It imports sealed, its catalog and the mechanisms'
// universes and domains. Start at Read and Contents.Seal.
package sealing
