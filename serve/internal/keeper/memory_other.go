//go:build !linux

package keeper

func machineMemory() int64 { return unknownMemory }
