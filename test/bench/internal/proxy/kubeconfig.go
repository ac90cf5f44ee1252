package proxy

import (
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes one that leads through the proxy. Its user has the
// certificate of the one whom the proxy speaks for, as their own kubeconfig would,
// and a token that is ignored: some clients prompt for credentials without one.
func (p *Proxy) WriteKubeconfig(path string) error {
	const name = "bench"
	config := api.NewConfig()
	config.Clusters[name] = &api.Cluster{Server: p.URL, CertificateAuthorityData: p.CA}
	config.AuthInfos[name] = &api.AuthInfo{Token: name, ClientCertificateData: p.certificate, ClientKeyData: p.key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	return clientcmd.WriteToFile(*config, path)
}
