package ssh

// CheckedBySSH is tested with the ssh of this machine.
var CheckedBySSH = checkedBySSH
