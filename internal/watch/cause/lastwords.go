package cause

import "slices"

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

func words() []entry {
	return slices.Concat(wordsOfFiles(), wordsOfLimits(), wordsOfOthers())
}

// wordsOfFiles are those about what the program reads and writes.
func wordsOfFiles() []entry {
	return []entry{
		{
			code: ReadOnlyFilesystem,
			hint: "The program writes to a path that is read-only: the container's own file system (readOnlyRootFilesystem), or a volume that is mounted so, as those of ConfigMaps and Secrets always are. " +
				"Mount an emptyDir at that path in {spec}. {again} {last-words}",
			explanation: explanation{
				title:    "The program writes to a read-only file system",
				meaning:  "The container may not write to its own file system, or the volume at that path is read-only. Programs often write to /tmp, /run or a cache without being asked.",
				signs:    []string{"\"Read-only file system\" or EROFS in the container's last message or log", "readOnlyRootFilesystem: true in the container's securityContext"},
				remedies: []string{"Mount an emptyDir where the program writes.", "Have the program write elsewhere.", "If the path is a ConfigMap's or a Secret's, copy the file in an init container."},
				example:  "collected/o20-read-only-rootfs",
			},
		},
		{
			code: PermissionDenied,
			hint: "The user that the container runs as may not do that: the file or the volume belongs to another user, or it is a port below 1024. " +
				"Set runAsUser to the owner of the files, or fsGroup for a volume, in the securityContext in {spec}. {again} {last-words}",
			explanation: explanation{
				title:    "The program may not read or write what it needs",
				meaning:  "The container runs as a user who may not access a file, a directory or a port. Often the image expects to be root, or a volume belongs to root or to the user of an earlier image.",
				signs:    []string{"\"Permission denied\", \"Operation not permitted\", EACCES or \"has wrong ownership\" in the container's last message or log"},
				remedies: []string{"Set fsGroup in the pod's securityContext: the volume's files get that group.", "Set runAsUser to the user to whom the files belong; databases want to be the owner.", "Change the owner in an init container.", "Use a port above 1024."},
				example:  "collected/o79-sts-first-crashes",
			},
		},
		{
			code: FileMissing,
			hint: "The program misses a file, a module or a library. Either the image was built without it, or a volume is mounted over the directory that has it, or the file is expected from a volume that does not bring it. " +
				"Compare with the volume mounts in {spec}. {last-words}",
			explanation: explanation{
				title:    "The program misses a file",
				meaning:  "The program started, and did not find a file that it needs: its configuration, a module, a library.",
				signs:    []string{"\"no such file or directory\", \"Cannot find module\" or \"cannot open shared object file\" in the container's last message or log"},
				remedies: []string{"Look into the image: `docker run --rm -it --entrypoint sh IMAGE`.", "See whether a volume hides the directory: what the image has there is not seen any more.", "Check the arguments and the working directory.", "Build the image with what is missing."},
				example:  "crash/file-missing",
			},
		},
	}
}

// wordsOfLimits are those about what there is no more of.
func wordsOfLimits() []entry {
	return []entry{
		{
			code: DiskFull,
			hint: "The disk that the program writes to is full: a volume (`kubectl get pvc{ns}`), or that of the node. Make the volume larger, or make room on it. {last-words}",
			explanation: explanation{
				title:    "The disk is full",
				meaning:  "The program could not write, as its volume, or the disk of the node, has no room.",
				signs:    []string{"\"No space left on device\" or ENOSPC in the container's last message or log"},
				remedies: []string{"Make the claim larger: its storage class has to allow that (allowVolumeExpansion).", "Delete what is not needed.", "Without a volume, it is the node's disk: set a limit of ephemeral-storage, and clean up."},
				example:  "crash/disk-full",
			},
		},
		{
			code: HeapExhausted,
			hint: "The program's own runtime ran out of memory; the container was not killed for its limit. Raise the limit of the runtime (-Xmx, --max-old-space-size), and {memory-field} with it. {again} {last-words}",
			explanation: explanation{
				title:    "The program's runtime is out of memory",
				meaning:  "Java, Node.js and others have a limit of memory of their own, which is derived from the container's or is set by an option. The program reached that, and ended by itself: this is not OOMKilled.",
				signs:    []string{"\"java.lang.OutOfMemoryError\", \"JavaScript heap out of memory\" or \"std::bad_alloc\" in the container's last message or log"},
				remedies: []string{"Raise the runtime's limit: -XX:MaxRAMPercentage, NODE_OPTIONS=--max-old-space-size.", "Raise the container's limit of memory with it.", "If it grows without end, the program leaks memory."},
				example:  "crash/heap",
			},
		},
		{
			code: AddressInUse,
			hint: "Another program has the port already. Containers of one pod share their ports, and with hostNetwork all of the node. Give one of them another port in {spec}. {again} {last-words}",
			explanation: explanation{
				title:    "The port is in use",
				meaning:  "The program wants to listen on a port that another one has. All containers of a pod share one network, and a pod with hostNetwork that of the node.",
				signs:    []string{"\"address already in use\" or EADDRINUSE in the container's last message or log"},
				remedies: []string{"Give the containers of the pod different ports.", "With hostNetwork, use a port that nothing on the node has.", "See whether the program starts itself twice."},
				example:  "crash/address-in-use",
			},
		},
	}
}

// wordsOfOthers are those about what the program needs of others.
func wordsOfOthers() []entry {
	return []entry{
		{
			code: HostNotFound,
			hint: "The program asks for a host that DNS does not have. Check the name, and whether the Service exists in that namespace (`kubectl get services --all-namespaces`): " +
				"from another namespace it is NAME.NAMESPACE. {last-words}",
			explanation: explanation{
				title:    "A host name is not found",
				meaning:  "The program wants to connect to a host by a name that the cluster's DNS does not know, or the cluster's DNS does not answer.",
				signs:    []string{"\"no such host\", \"could not translate host name\" or ENOTFOUND in the container's last message or log"},
				remedies: []string{"Check the name in the configuration, and that the Service exists: `kubectl get services`.", "From another namespace, write NAME.NAMESPACE.", "Ask from inside: `kubectl exec POD -- nslookup NAME`.", "If no name is found, look at the pods of CoreDNS: `kubectl get pods --namespace kube-system`."},
				passes:   "If the Service comes later: the container is restarted until then.",
				example:  "crash/host-not-found",
			},
		},
		{
			code: ServiceUnreachable,
			hint: "The program needs something that does not answer, such as its database. See whether that runs and whether its Service has endpoints (`kubectl get endpointslices{ns}`), and check address and port. " +
				"If it only comes later, the container gets on with its next restart. {last-words}",
			explanation: explanation{
				title:    "What the program needs does not answer",
				meaning:  "The program ended because something that it connects to at its start refused the connection or did not answer.",
				signs:    []string{"\"connection refused\", \"i/o timeout\" or ECONNREFUSED in the container's last message or log"},
				remedies: []string{"See whether the other runs: `kubectl get pods`, `kubectl get endpointslices`.", "Check address and port.", "See whether a NetworkPolicy is in between.", "Have the program try again rather than end, or wait in an init container."},
				passes:   "When the other answers: the container is restarted until then, at ever longer intervals.",
				example:  "crash/database-down",
			},
		},
		{
			code: LoginRefused,
			hint: "Something that the program logs in to refuses its user or password. Compare the Secret that the container gets with what is expected there; a container reads a Secret in its environment only when it starts. {last-words}",
			explanation: explanation{
				title:    "A login is refused",
				meaning:  "The program reached what it connects to, such as a database, and that did not accept the user or the password.",
				signs:    []string{"\"password authentication failed\", \"Access denied for user\" or WRONGPASS in the container's last message or log"},
				remedies: []string{"Compare the Secret with what the other side expects; beware of a line end at the end of the value.", "A database takes the password of its first start: its volume has the old one still.", "Restart the pod after a change of the Secret."},
				example:  "crash/login-refused",
			},
		},
		{
			code: CertificateRejected,
			hint: "The program does not trust the certificate of what it connects to: of an authority that it does not know, expired, or for another name. Give the container the authority's certificate, or have the certificate renewed. {last-words}",
			explanation: explanation{
				title:    "A certificate is not trusted",
				meaning:  "The program reached what it connects to, and did not accept its TLS certificate.",
				signs:    []string{"\"x509: certificate signed by unknown authority\", \"certificate verify failed\" or \"PKIX path building failed\" in the container's last message or log"},
				remedies: []string{"Mount the authority's certificate into the container, and name it (SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, a trust store).", "Renew the certificate, if it has expired: is the node's clock right?", "Use the host name that the certificate is for."},
				example:  "crash/certificate",
			},
		},
	}
}
