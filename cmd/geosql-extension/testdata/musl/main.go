// Package main is the smallest library that has Go's runtime.
package main

import "C"

//export answer
func answer() int { return 42 }

func main() {}
