package cause

// The causes that only the last words of a container tell: what it has left as its
// termination message, which is the end of its log if the pod asks for that.
const (
	ReadOnlyFilesystem  = "ReadOnlyFilesystem"  // writes where it may not
	PermissionDenied    = "PermissionDenied"    // its user may not
	FileMissing         = "FileMissing"         // a file, a module or a library
	DiskFull            = "DiskFull"            // a volume or the node's disk
	HeapExhausted       = "HeapExhausted"       // the limit of its own runtime
	AddressInUse        = "AddressInUse"        // another has its port
	HostNotFound        = "HostNotFound"        // a name that DNS does not have
	ServiceUnreachable  = "ServiceUnreachable"  // what it needs does not answer
	LoginRefused        = "LoginRefused"        // it does, and refuses the login
	CertificateRejected = "CertificateRejected" // it does, and is not trusted
)
