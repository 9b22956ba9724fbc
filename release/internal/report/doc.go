// Package report writes the report on a released data set: one HTML page that says in
// words the release, its guarantee, its cost and its accuracy. It imports mechanism/planar. Start
// at Data and Write.
//
// The page has two parts. The first is for everybody and depends only on the released
// locations and on public settings. The second is for the data owner only: it compares the
// released locations with the raw ones. A page without the second part (Data.Owner is nil)
// is publishable. The first part is the same in both cases, byte for byte.
//
// The metadata are the first part for programs, as JSON, in a file of their own.
//
// The page loads and runs nothing: it has no script, no font and no external image, and a
// content security policy that forbids them.
//
// Lengths are in metres, angles in degrees, epsilon is per metre. The accumulators (Grid,
// Moves) take constant memory. Each worker has its own; they are merged at the end.
package report
