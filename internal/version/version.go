// Package version holds the version of geosql.
package version

// Version is the version of geosql, which its functions, its command, its packages and what it
// publishes state.
const Version = "0.1.0"
