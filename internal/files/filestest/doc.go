// Package filestest has small disks for tests that fill them. They are for Linux, and for root.
package filestest
