// Package report writes the page that stands next to a released data set: one HTML
// file that says in words what was released, under which guarantee, at what cost and
// how accurately.
//
// The page has two parts. The first is for everybody, and is made from the released
// locations and from public settings alone. The second is for the data owner only: it
// compares with the raw locations. A page is publishable when it has no second part
// (Data.Owner is nil); the first part is the same either way, byte for byte.
//
// The page loads nothing and runs nothing: no script, no font, no image of another
// place, and a content security policy that forbids them.
//
// Lengths are metres, angles degrees, epsilon is per metre. Accumulators (Grid, Moves)
// take constant memory; a worker has its own and they are merged at the end.
package report
