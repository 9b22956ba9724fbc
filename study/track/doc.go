// Package track holds recorded traces for the studies: fixes, put into the track of
// their user, and how far apart they are.
package track
