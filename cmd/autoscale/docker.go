package autoscale

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// Time that a worker needs to end in order: its setting drain, and what it takes to hand back its tasks.
const (
	defaultDrain = 30 * time.Second
	handBackTime = 10 * time.Second
)

// service is a fleet that is a service of a swarm. Docker's own program is run, on a manager of the swarm.
type service struct{ docker, name string }

// NewService returns the service of a swarm with a name as a fleet. It fails with fault.ErrNotFound if there is no
// program docker, and with fault.ErrInvalid if the service has no number of replicas, or if Docker kills its workers
// before they have handed back their tasks.
func NewService(ctx context.Context, name string) (Fleet, error) {
	docker, err := exec.LookPath("docker")
	if err != nil {
		return nil, fmt.Errorf("docker: %w: %w", fault.ErrNotFound, err)
	}
	s := &service{docker, name}
	spec, err := s.inspect(ctx)
	if err != nil {
		return nil, err
	}
	if grace, need := spec.grace(), spec.drain()+handBackTime; grace < need {
		return nil, fmt.Errorf("service %s: %w: Docker kills a worker %s after SIGTERM, and it needs %s to finish or hand back its tasks: set stop_grace_period: %.0fs",
			name, fault.ErrInvalid, grace, need, need.Seconds())
	}
	return s, nil
}

// spec is what is read of a service.
type spec struct {
	Mode struct{ Replicated *struct{ Replicas int } }

	TaskTemplate struct {
		ContainerSpec struct {
			StopGracePeriod *time.Duration // in nanoseconds; nil: Docker's default
			Env             []string
		}
	}
}

func (s spec) grace() time.Duration {
	const dockersDefault = 10 * time.Second
	if given := s.TaskTemplate.ContainerSpec.StopGracePeriod; given != nil {
		return *given
	}
	return dockersDefault
}

// drain returns the worker's setting, if it is in its environment, or the default.
func (s spec) drain() time.Duration {
	for _, v := range s.TaskTemplate.ContainerSpec.Env {
		if text, ok := strings.CutPrefix(v, "LEASEHOLD_DRAIN="); ok {
			if d, err := time.ParseDuration(text); err == nil {
				return d
			}
		}
	}
	return defaultDrain
}

func (s *service) inspect(ctx context.Context) (x spec, err error) {
	printed, err := run(ctx, []string{s.docker, "service", "inspect", "--format", "{{json .Spec}}", "--", s.name})
	if err != nil {
		return x, err
	}
	if err := json.Unmarshal([]byte(printed), &x); err != nil {
		return x, fmt.Errorf("docker service inspect %s: %w: %w", s.name, fault.ErrCorrupt, err)
	}
	if x.Mode.Replicated == nil {
		return x, fmt.Errorf("service %s: %w: want a replicated service, because others have no number of workers", s.name, fault.ErrInvalid)
	}
	return x, nil
}

func (s *service) Workers(ctx context.Context, _ int) (int, error) {
	x, err := s.inspect(ctx)
	if err != nil {
		return 0, err
	}
	return x.Mode.Replicated.Replicas, nil
}

// DrainsItself is true, because Docker sends SIGTERM, at which a worker drains.
func (s *service) DrainsItself() bool { return true }

func (s *service) Scale(ctx context.Context, c Change) error {
	_, err := run(ctx, []string{s.docker, "service", "scale", "--detach", fmt.Sprintf("%s=%d", s.name, c.To)})
	return err
}
