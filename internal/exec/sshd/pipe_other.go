//go:build !linux

package sshd

// Widen does nothing: the pipes of this system have the size that they have.
func Widen(...any) {}
