package vdbe

import (
	"iter"
	"math"
	"strconv"
	"strings"
)

// An opcode describes an instruction. The analyses read it and name no instruction, so their whole knowledge of another
// instruction is a row of [opcodes].
type opcode struct {
	next    next     // where a run goes on
	reads   operands // the values that it computes with, stores or passes on
	decides operands // the values that choose where a run goes on, or which rows it finds
	writes  operands
	effect  effect
	cursor  role // how it changes the cursor P1

	operator string // of SQL, if it computes one
	literal  literal
	use      use   // its purpose for other values that it reads or that decide
	bound    bound // how the rows compare with the key where a run goes on at the next instruction
	limits   limits
}

// code returns the opcode of the instruction.
func (op *Op) code() *opcode {
	if c := opcodes[op.Name]; c != nil {
		return c
	}
	return unknown
}

var unknown = &opcode{next: refused}

// A next tells where a run goes on.
type next uint8

const (
	onwards       next = iota // at the next instruction
	branches                  // there or at P2, unless it is 0
	branchesAbove             // the same: at P2 if P1 is above 0
	jumps                     // at P2
	enters                    // at P2, as the first instruction of a program
	jumpsThree                // at P1, P2 or P3
	skips                     // at the next instruction the first time, and then at P2
	halts                     // nowhere
	calls                     // at P2, and stores in P1 where
	numbers                   // at the next instruction, and stores P1 in P2: it may be an address
	forgets                   // at the next instruction, and clears the registers from P2 to P3: a subroutine is entered without a call
	returns                   // behind the address in P1; at the next instruction if there is none and P3 is not 0
	prepares                  // at P2 or, if it is 0, at the next instruction, and stores in P1 that a coroutine begins at P3
	yields                    // behind the address in P1, and stores there where
	finishes                  // at P2 of the yield at the address in P1
	refused                   // unknown
)

// isBranch reports whether a run goes on at one of several instructions.
func (n next) isBranch() bool { return n == branches || n == branchesAbove || n == jumpsThree }

// operands are registers of an instruction.
type operands uint16

const (
	p1 operands = 1 << iota // one register
	p2
	p3
	p1n2      // P2 registers from P1 on
	p1n3      // P3 registers from P1 on
	p2n3      // P3 registers from P2 on, or one
	p1over3   // P3+1 registers from P1 on
	p2over3   // P3+1 registers from P2 on
	p2to3     // from P2 to P3, or P2
	p3n2      // P2 registers from P3 on
	key       // from P3 on, as many as P4 says
	arguments // of the function in P4, from P2 on
)

// registers returns the first and the number of the registers that operands are.
func (op *Op) registers(of operands) iter.Seq2[int, int] {
	return func(yield func(first, n int) bool) {
		for o := p1; o <= of; o <<= 1 {
			if of&o == 0 {
				continue
			}
			first, n := op.P2, 1
			switch o {
			case p1:
				first = op.P1
			case p3:
				first = op.P3
			case p1n2:
				first, n = op.P1, op.P2
			case p1n3:
				first, n = op.P1, op.P3
			case p2n3:
				n = max(op.P3, 1)
			case p1over3:
				first, n = op.P1, op.P3+1
			case p2over3:
				n = op.P3 + 1
			case p2to3:
				n = max(op.P3-op.P2, 0) + 1
			case p3n2:
				first, n = op.P3, op.P2
			case key:
				first, n = op.P3, op.keyLength()
			case arguments:
				_, n = op.function()
			}
			if !yield(first, n) {
				return
			}
		}
	}
}

// An effect is a change of values that the operands do not tell.
type effect uint8

const (
	nothing    effect = iota
	sets              // writes a value computed from those it reads: a constant if there are none
	clears            // writes NULL, with which an accumulator begins
	tells             // writes the outcome of the comparison before it, or NULL if a value that it reads is
	copies            // copies the values that it reads, register by register
	counts            // writes how many rows a cursor has
	countsDown        // counts P1 down, if it is positive
	hurries           // does, with a cursor that stands before the row, what the instruction behind it does
	testsNull         // goes on at the next instruction unless P1 is NULL
	converts          // converts values in place to the affinities of P4
	admits            // adds the number in P3 to the set in P1, in its phase P4, and goes on unless an earlier phase has added it
	binds             // writes a parameter of the statement
	marks             // writes into P1, if it is not 0, whether the next step of min or max takes its row

	callsFunction // writes the answer of a function
	stepsGroup    // steps the aggregate with the accumulator P3
	unstepsGroup  // takes a step back
	asksGroup     // writes the answer of the aggregate with the accumulator P1
	endsGroup     // writes it into P1

	packs        // writes a record of the values that it reads
	readsField   // writes field P2 of a cursor's row
	readsVirtual // writes a column of a virtual table's row
	readsRowid   // writes the number of a cursor's row
	readsRow     // writes the record of a cursor's row
	inserts      // stores the record that it reads, by its number
	insertsKey   // stores the record that it reads, by its fields
	deletesRow   // deletes the row where a cursor stands
	empties      // deletes all rows of a table of the statement's own
	transfers    // stores the row of the cursor P2
	filters      // opens a virtual table's rows: see filterArguments
	lists        // writes a list, for a virtual table, of the first fields of all rows of a cursor, and P3 takes them one by one

	permutes       // says by P4 which registers the next instruction compares
	returnsRow     // returns the values that it reads
	firesTrigger   // runs a program
	passes         // writes a value that a trigger is passed
	transacts      // begins a transaction, which writes if P2 is not 0
	locksTable     // locks a table of a shared cache
	changesSchema  // reads the schema again
	fails          // ends the statement by the conflict rule P2 if P1 is not 0
	updatesVirtual // writes a row of a virtual table, by the conflict rule P5
)

// A role is the part of an instruction in the life of the cursor P1.
type role uint8

const (
	without      role = iota // P1 is no cursor
	usesIt                   // neither moves nor opens it
	changes                  // its rows, or its counter
	leads                    // makes the cursor P3 follow it
	closes                   // it
	opensRead                // a table or index with root page P2 of database P3
	opensWrite               // the same, to write it
	opensOwn                 // a table of the statement's own
	opensIndex               // one that is an automatic index
	opensSorter              // one that is a sorter
	opensCopy                // the same table as the cursor P2
	opensRecord              // the record in P2
	opensVirtual             // a virtual table
	probes                   // looks a key up
	starts                   // moves it to a first row, or to the only one
	startsSorted             // moves it to the first row of a table that is read in its order
	advances                 // moves it to a next row
	retreats                 // moves it to a next row, backwards
	leavesRows               // moves it to a row of NULLs
)

func (r role) opensOrCloses() bool { return closes <= r && r <= opensVirtual }

// moves reports whether the cursor moves.
func (r role) moves() bool { return probes <= r && r <= leavesRows }

func (r role) isStart() bool { return r == starts || r == startsSorted }

func (r role) isAdvance() bool { return r == advances || r == retreats }

// A literal tells where an instruction has the constant that it writes.
type literal uint8

const (
	nowhere literal = iota
	numberInP1
	numberInP4
	textInP4
)

// A use is the purpose for which an instruction takes values.
type use uint8

const (
	unused        use = iota // for nothing that depends on the hidden values: a copy, a test for NULL
	asCondition              // true or false, or a number of rows
	asEqual                  // equal or not
	asLess                   // smaller or not
	asOrder                  // in order, by groups
	asRecordOrder            // in order with the record of a cursor
	asKey                    // a key that it looks up
	asRemoved                // a key that it deletes
)

// A bound says on which side of a key rows are. A cursor that starts by a key moves away from it, so that all rows from there on are on that
// side.
type bound uint8

const (
	anywhere bound = iota
	exactly        // the row has the key, and is the only one
	atLeast        // equal or behind it
	above          // behind it
	atMost         // equal or before it
	below          // before it
)

// limits tell which analyses do not know an instruction.
type limits uint8

const (
	noPath   limits = 1 << iota // not a [graph] that is not loose: it is of triggers, windows or statements that are no queries
	noRepeat                    // not [Program.Repeats], once anything varies
	noQuery  = noPath | noRepeat
)

// opcodes are SQLite's instructions, by name. A test compares them with SQLite's own table, and fails for an instruction
// that is missing here.
var opcodes = map[string]*opcode{
	// The way of a run.
	"Init":          {next: enters},
	"Goto":          {next: jumps},
	"Jump":          {next: jumpsThree}, // by the comparison before it
	"Once":          {next: skips},
	"Gosub":         {next: calls, writes: p1},
	"BeginSubrtn":   {next: forgets, effect: sets, writes: p2},
	"Return":        {next: returns, decides: p1},
	"InitCoroutine": {next: prepares, writes: p1},
	"Yield":         {next: yields, decides: p1, writes: p1},
	"EndCoroutine":  {next: finishes, decides: p1},
	"Halt":          {next: halts, effect: fails},
	"HaltIfNull":    {decides: p3, effect: fails},

	// Conditions.
	"If":           {next: branches, decides: p1, use: asCondition},
	"IfNot":        {next: branches, decides: p1, use: asCondition},
	"IfPos":        {next: branchesAbove, effect: countsDown, decides: p1, use: asCondition},
	"IfNotZero":    {next: branches, effect: countsDown, decides: p1, use: asCondition},
	"DecrJumpZero": {next: branches, effect: countsDown, decides: p1, use: asCondition},
	"IsNull":       {next: branches, effect: testsNull, decides: p1},
	"NotNull":      {next: branches, decides: p1},
	"IsType":       {next: branches, decides: p3, cursor: usesIt, limits: noRepeat}, // of the field P3 of a cursor, or of the register
	"MustBeInt":    {next: branches, decides: p1, use: asEqual},
	"Eq":           {next: branches, decides: p1 | p3, use: asEqual},
	"Ne":           {next: branches, decides: p1 | p3, use: asEqual, bound: exactly},
	"Ge":           {next: branches, decides: p1 | p3, use: asLess},
	"Gt":           {next: branches, decides: p1 | p3, use: asLess},
	"Le":           {next: branches, decides: p1 | p3, use: asLess},
	"Lt":           {next: branches, decides: p1 | p3, use: asLess},
	"ElseEq":       {next: branches}, // by the comparison before it
	"Compare":      {decides: p1n3 | p2n3, use: asOrder},
	"Permutation":  {effect: permutes},
	"ZeroOrNull":   {effect: tells, reads: p1 | p3, writes: p2},
	"IsTrue":       {effect: sets, reads: p1, writes: p2, use: asCondition},
	"OffsetLimit":  {effect: sets, reads: p1 | p3, writes: p2, use: asCondition},
	"Filter":       {next: branches, decides: p1 | key, use: asEqual},
	"FilterAdd":    {effect: sets, reads: key, writes: p1, use: asEqual},

	// Constants.
	"Integer":    {next: numbers, effect: sets, writes: p2, literal: numberInP1},
	"Int64":      {effect: sets, writes: p2, literal: numberInP4},
	"Real":       {effect: sets, writes: p2, literal: numberInP4},
	"String":     {effect: sets, writes: p2, literal: textInP4},
	"String8":    {effect: sets, writes: p2, literal: textInP4},
	"Blob":       {effect: sets, writes: p2},
	"Null":       {next: forgets, effect: clears, writes: p2to3},
	"SoftNull":   {effect: sets, writes: p1},
	"Variable":   {effect: binds, writes: p2},
	"ReadCookie": {effect: sets, writes: p2},
	"Sequence":   {effect: sets, writes: p2, cursor: changes},

	// Copies, and changes of type in place.
	"SCopy":        {effect: copies, reads: p1, writes: p2},
	"Copy":         {effect: copies, reads: p1over3, writes: p2over3},
	"Move":         {effect: copies, reads: p1n3, writes: p2n3},
	"IntCopy":      {effect: sets, reads: p1, writes: p2},
	"GetSubtype":   {effect: sets, reads: p1, writes: p2},
	"SetSubtype":   {effect: sets, reads: p1 | p2, writes: p2},
	"ClrSubtype":   {effect: sets, reads: p1, writes: p1},
	"RealAffinity": {effect: converts, reads: p1},
	"Affinity":     {effect: converts, reads: p1n2},
	"TypeCheck":    {reads: p1n2},
	"ReleaseReg":   {},

	// Operators.
	"Add":        {effect: sets, reads: p1 | p2, writes: p3, operator: "+"},
	"Subtract":   {effect: sets, reads: p1 | p2, writes: p3, operator: "-"},
	"Multiply":   {effect: sets, reads: p1 | p2, writes: p3, operator: "*"},
	"Divide":     {effect: sets, reads: p1 | p2, writes: p3, operator: "/"},
	"Remainder":  {effect: sets, reads: p1 | p2, writes: p3, operator: "%"},
	"Concat":     {effect: sets, reads: p1 | p2, writes: p3, operator: "||"},
	"And":        {effect: sets, reads: p1 | p2, writes: p3, operator: "AND"},
	"Or":         {effect: sets, reads: p1 | p2, writes: p3, operator: "OR"},
	"BitAnd":     {effect: sets, reads: p1 | p2, writes: p3, operator: "&"},
	"BitOr":      {effect: sets, reads: p1 | p2, writes: p3, operator: "|"},
	"ShiftLeft":  {effect: sets, reads: p1 | p2, writes: p3, operator: "<<"},
	"ShiftRight": {effect: sets, reads: p1 | p2, writes: p3, operator: ">>"},
	"Not":        {effect: sets, reads: p1, writes: p2, operator: "NOT"},
	"BitNot":     {effect: sets, reads: p1, writes: p2, operator: "~"},
	"AddImm":     {effect: sets, reads: p1, writes: p1, operator: "+"},
	"Cast":       {effect: sets, reads: p1, writes: p1, operator: "CAST"},

	// Functions and groups.
	"Function":   {effect: callsFunction, reads: arguments, writes: p3},
	"PureFunc":   {effect: callsFunction, reads: arguments, writes: p3},
	"AggStep":    {effect: stepsGroup, reads: arguments, writes: p3},
	"AggStep1":   {next: refused}, // AggStep turns into it while it runs
	"AggInverse": {effect: unstepsGroup, reads: arguments, writes: p3},
	"AggValue":   {effect: asksGroup, reads: p1, writes: p3},
	"AggFinal":   {effect: endsGroup, reads: p1, writes: p1},
	"CollSeq":    {effect: marks, writes: p1},

	// Cursors.
	"OpenRead":      {cursor: opensRead},
	"ReopenIdx":     {cursor: opensRead},
	"OpenWrite":     {cursor: opensWrite}, // of the root page in register P2 if P5 says so
	"OpenEphemeral": {cursor: opensOwn},
	"OpenAutoindex": {cursor: opensIndex},
	"SorterOpen":    {cursor: opensSorter},
	"OpenDup":       {cursor: opensCopy},
	"OpenPseudo":    {cursor: opensRecord, reads: p2},
	"VOpen":         {cursor: opensVirtual},
	"Close":         {cursor: closes},
	"IfNotOpen":     {next: branches, cursor: usesIt},
	"ColumnsUsed":   {cursor: usesIt},
	"CursorHint":    {cursor: usesIt},
	"CursorLock":    {cursor: usesIt},
	"CursorUnlock":  {cursor: usesIt},
	"Rewind":        {next: branches, cursor: starts},
	"Last":          {next: branches, cursor: starts},
	"Sort":          {next: branches, cursor: startsSorted},
	"SorterSort":    {next: branches, cursor: startsSorted},
	"SeekGE":        {next: branches, decides: key, cursor: starts, use: asKey, bound: atLeast},
	"SeekGT":        {next: branches, decides: key, cursor: starts, use: asKey, bound: above},
	"SeekLE":        {next: branches, decides: key, cursor: starts, use: asKey, bound: atMost},
	"SeekLT":        {next: branches, decides: key, cursor: starts, use: asKey, bound: below},
	"SeekRowid":     {next: branches, decides: p3, cursor: starts, use: asEqual, bound: exactly},
	"NotExists":     {next: branches, decides: p3, cursor: starts, use: asEqual, bound: exactly},
	"VFilter":       {next: branches, effect: filters, reads: p3, cursor: starts},
	"Found":         {next: branches, decides: key, cursor: probes, use: asKey},
	"NotFound":      {next: branches, decides: key, cursor: probes, use: asKey},
	"NoConflict":    {next: branches, decides: key, cursor: probes, use: asKey},
	"IfNoHope":      {next: branches, decides: key, cursor: usesIt, use: asKey},
	"IdxGE":         {next: branches, decides: key, cursor: usesIt, use: asKey, bound: below},
	"IdxGT":         {next: branches, decides: key, cursor: usesIt, use: asKey, bound: atMost},
	"IdxLE":         {next: branches, decides: key, cursor: usesIt, use: asKey, bound: above},
	"IdxLT":         {next: branches, decides: key, cursor: usesIt, use: asKey, bound: atLeast},
	"IFindKey":      {next: branches, decides: key, cursor: usesIt, use: asKey, limits: noQuery},
	"Next":          {next: branches, cursor: advances},
	"Prev":          {next: branches, cursor: retreats},
	"SorterNext":    {next: branches, cursor: advances},
	"VNext":         {next: branches, cursor: advances},
	"NullRow":       {cursor: leavesRows},
	"DeferredSeek":  {cursor: leads},
	"FinishSeek":    {cursor: usesIt},
	"SeekHit":       {cursor: usesIt},
	"SeekScan":      {next: branches, effect: hurries, limits: noPath}, // and where the SeekGE behind it branches
	"SeekEnd":       {cursor: usesIt, limits: noQuery},
	"IfNullRow":     {next: branches, writes: p3, cursor: usesIt}, // NULL, or nothing
	"IfEmpty":       {next: branches, cursor: usesIt},
	"IfSizeBetween": {next: branches, cursor: usesIt, limits: noQuery},
	"IfSmaller":     {next: branches, cursor: usesIt, limits: noQuery}, // of SQLite before 3.46
	"SequenceTest":  {next: branches, cursor: changes},
	"SorterCompare": {next: branches, decides: p3, cursor: usesIt, use: asRecordOrder, limits: noQuery},
	"RowSetRead":    {next: branches, effect: sets, decides: p1, writes: p3, limits: noQuery},
	"RowSetTest":    {next: branches, effect: admits, decides: p1 | p3, writes: p1},
	"RowSetAdd":     {reads: p1 | p2, limits: noQuery},

	// Records.
	"Column":       {effect: readsField, writes: p3, cursor: usesIt},
	"VColumn":      {effect: readsVirtual, writes: p3, cursor: usesIt},
	"Rowid":        {effect: readsRowid, writes: p2, cursor: usesIt},
	"IdxRowid":     {effect: readsRowid, writes: p2, cursor: usesIt},
	"RowData":      {effect: readsRow, writes: p2, cursor: usesIt},
	"SorterData":   {effect: readsRow, writes: p2, cursor: usesIt},
	"Count":        {effect: counts, writes: p2, cursor: usesIt},
	"Offset":       {effect: sets, writes: p3, cursor: usesIt, limits: noQuery},
	"MakeRecord":   {effect: packs, reads: p1n2, writes: p3},
	"NewRowid":     {effect: sets, decides: p3, writes: p2, cursor: usesIt},
	"Insert":       {effect: inserts, reads: p2, decides: p3, cursor: changes},
	"IdxInsert":    {effect: insertsKey, reads: p2, decides: p2, cursor: changes},
	"SorterInsert": {effect: insertsKey, reads: p2, cursor: changes},
	"RowCell":      {effect: transfers, decides: p3, cursor: changes, limits: noQuery},
	"Delete":       {effect: deletesRow, cursor: changes},
	"IdxDelete":    {decides: p2n3, cursor: changes, use: asRemoved},
	"ResetSorter":  {effect: empties, cursor: changes},
	"VInitIn":      {effect: lists, writes: p2 | p3, cursor: usesIt, limits: noPath},
	"ResultRow":    {effect: returnsRow, reads: p1n2},

	// Statements that are no queries, and instructions around queries.
	"Transaction":  {effect: transacts},
	"TableLock":    {effect: locksTable},
	"ParseSchema":  {effect: changesSchema},
	"SetCookie":    {},
	"CreateBtree":  {effect: sets, writes: p2},
	"FkCheck":      {},
	"Trace":        {},
	"Noop":         {},
	"Explain":      {},
	"Abortable":    {},
	"Program":      {next: branches, effect: firesTrigger, limits: noQuery},
	"Param":        {effect: passes, writes: p2, limits: noQuery},
	"FkIfZero":     {next: branches, limits: noQuery},
	"FkCounter":    {limits: noQuery},
	"MemMax":       {effect: sets, reads: p1 | p2, writes: p1, limits: noQuery}, // numbers of rows
	"VUpdate":      {effect: updatesVirtual, reads: p3n2, limits: noQuery},
	"VBegin":       {limits: noQuery},
	"VCheck":       {effect: sets, writes: p2, limits: noQuery},
	"VCreate":      {reads: p2, limits: noQuery},
	"VDestroy":     {limits: noQuery},
	"VRename":      {reads: p1, limits: noQuery},
	"AutoCommit":   {limits: noQuery},
	"Checkpoint":   {limits: noQuery},
	"Clear":        {limits: noQuery},
	"Destroy":      {effect: sets, writes: p2, limits: noQuery},
	"DropIndex":    {limits: noQuery},
	"DropTable":    {limits: noQuery},
	"DropTrigger":  {limits: noQuery},
	"Expire":       {limits: noQuery},
	"IncrVacuum":   {next: branches, limits: noQuery},
	"IntegrityCk":  {limits: noQuery},
	"JournalMode":  {effect: sets, writes: p2, limits: noQuery},
	"LoadAnalysis": {limits: noQuery},
	"MaxPgcnt":     {effect: sets, writes: p2, limits: noQuery},
	"Pagecount":    {effect: sets, writes: p2, limits: noQuery},
	"ResetCount":   {limits: noQuery},
	"Savepoint":    {limits: noQuery},
	"SqlExec":      {limits: noQuery},
	"Vacuum":       {limits: noQuery},
}

// keyLength returns the number of registers from P3 on that hold a key.
func (op *Op) keyLength() int {
	n, err := strconv.Atoi(op.P4)
	if err != nil || n < 0 {
		return math.MaxInt
	}
	return max(n, 1) // 0: a record in P3
}

// function returns the name and the number of arguments of a function, which P4 gives
// as name(n). A function that takes any number may read all registers from its first
// argument on.
func (op *Op) function() (name string, n int) {
	open := strings.LastIndexByte(op.P4, '(')
	if open < 0 || !strings.HasSuffix(op.P4, ")") {
		return "", math.MaxInt
	}
	n, err := strconv.Atoi(op.P4[open+1 : len(op.P4)-1])
	if err != nil || n < 0 {
		n = math.MaxInt
	}
	return strings.ToLower(op.P4[:open]), n
}

// is reports whether an instruction calls a function, named in lower case.
func (op *Op) is(function string) bool {
	name, _ := op.function()
	return name == function
}
