package kube

import (
	"errors"
	"net/http"

	"k8s.io/client-go/discovery"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	authenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	batchv1 "k8s.io/client-go/kubernetes/typed/batch/v1"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"
)

// Interface is the part of client-go's kubernetes.Interface that is used. The rest
// would be a tenth of the program.
type Interface interface {
	Discovery() discovery.DiscoveryInterfaces
	AppsV1() appsv1.AppsV1Interface
	AuthenticationV1() authenticationv1.AuthenticationV1Interface
	AuthorizationV1() authorizationv1.AuthorizationV1Interface
	BatchV1() batchv1.BatchV1Interface
	CoordinationV1() coordinationv1.CoordinationV1Interface
	CoreV1() corev1.CoreV1Interface
	StorageV1() storagev1.StorageV1Interface
}

// typed are clients on one connection.
type typed struct {
	discovery      discovery.DiscoveryInterfaces
	apps           appsv1.AppsV1Interface
	authentication authenticationv1.AuthenticationV1Interface
	authorization  authorizationv1.AuthorizationV1Interface
	batch          batchv1.BatchV1Interface
	coordination   coordinationv1.CoordinationV1Interface
	core           corev1.CoreV1Interface
	storage        storagev1.StorageV1Interface
}

func newTyped(config *rest.Config, client *http.Client) (Interface, error) {
	var t typed
	var errs [8]error
	t.discovery, errs[0] = discovery.NewDiscoveryClientForConfigAndClient(config, client)
	t.apps, errs[1] = appsv1.NewForConfigAndClient(config, client)
	t.authentication, errs[2] = authenticationv1.NewForConfigAndClient(config, client)
	t.authorization, errs[3] = authorizationv1.NewForConfigAndClient(config, client)
	t.batch, errs[4] = batchv1.NewForConfigAndClient(config, client)
	t.coordination, errs[5] = coordinationv1.NewForConfigAndClient(config, client)
	t.core, errs[6] = corev1.NewForConfigAndClient(config, client)
	t.storage, errs[7] = storagev1.NewForConfigAndClient(config, client)
	return t, errors.Join(errs[:]...)
}

func (t typed) Discovery() discovery.DiscoveryInterfaces                     { return t.discovery }
func (t typed) AppsV1() appsv1.AppsV1Interface                               { return t.apps }
func (t typed) AuthenticationV1() authenticationv1.AuthenticationV1Interface { return t.authentication }

func (t typed) AuthorizationV1() authorizationv1.AuthorizationV1Interface { return t.authorization }
func (t typed) BatchV1() batchv1.BatchV1Interface                         { return t.batch }
func (t typed) CoordinationV1() coordinationv1.CoordinationV1Interface    { return t.coordination }
func (t typed) CoreV1() corev1.CoreV1Interface                            { return t.core }
func (t typed) StorageV1() storagev1.StorageV1Interface                   { return t.storage }
