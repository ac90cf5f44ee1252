package rbac

// The permissions for what the configuration names in another namespace.

func jobsInNATS() Command {
	return Command{
		Name: JobsInNATS, Feature: true,
		About: "Reach a Service of NATS through the API server (`jobs.nats.service`), for provision, jobs and status --history: a Role in the namespace of NATS.",
		Rules: []Rule{
			{Resource: "services", Verbs: []string{"get"}, Why: "where NATS is"},
			{Resource: "pods", Verbs: []string{"list"}, Why: "which of its pods is ready"},
			{Resource: "pods/portforward", Verbs: []string{"create"}, Why: "the connection"},
			{Resource: "pods/portforward", Verbs: []string{"get"}, Why: "the same over WebSockets", Without: "SPDY is used"},
		},
	}
}

func configMaps() Command {
	return Command{
		Name: ConfigMapsOfPlatform, Feature: true,
		About: "Read blueprints (`blueprintConfigMaps`) and users (`identity.providers` of kind configmap): a Role in the namespace of the ConfigMaps. resourceNames can limit it to them.",
		Rules: []Rule{
			{Resource: "configmaps", Verbs: []string{"get"}, Why: "those that the configuration names"},
		},
	}
}
