// Package device holds the npm package geosql-device to the Go packages that it is made of: the same numbers and draws bit for
// bit, and a budget that no accident exceeds, in Node and in chromium.
package device
