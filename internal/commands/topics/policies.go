package topics

const policies = `A policy defines what counts as a failure, and when.

  fast       (the default) what seldom passes by itself is a failure as soon as it
             is seen: an image that cannot be pulled, the first failure of an init
             container, more than 2 restarts of a container, out of memory, a
             claim that no volume exists for
  patient    for autoscaling clusters and unreliable registries: transient causes
             are a warning at first, and fail once they have lasted for the grace
             period without progress

Transient causes are: a registry that answers 429 or 5xx, does not answer in time or
refuses the connection; a DNS server that does not answer; no node as long as one is
being added; a volume that is still attached to another node. Under patient, the
crash loop threshold applies to init containers, too.

Permanent causes fail at once under both policies: an image that does not exist or
that may not be pulled, a malformed name, a program that is missing or built for
another processor, a key that does not exist.

Each --ignore-reason names a cause (CrashLoop) or Kubernetes' own reason
(CrashLoopBackOff), in upper or lower case, that is not a failure. ErrImagePull and
ImagePullBackOff are one. A pod that has ended cannot be ignored. When --timeout ends
the waiting, the ignored causes are named.

In the configuration file, with the defaults:

  policy:
    name: fast                # BERTH_POLICY, --policy
    crashLoopThreshold: 2     # BERTH_CRASH_LOOP_THRESHOLD, --crash-loop-threshold
    pullDelay: 8s             # BERTH_PULL_DELAY, --pull-delay
    gracePeriod: 10m          # BERTH_GRACE_PERIOD, --grace-period
    ignoreReasons: []         # BERTH_IGNORE_REASONS=A,B, --ignore-reason

A list that takes precedence replaces the other.`
