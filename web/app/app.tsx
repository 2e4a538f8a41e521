import type { FunctionComponent, VNode } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { Empty, Failure } from '../parts/states.js';
import { Page } from '../parts/page.js';
import { ApprovalsView } from '../views/approvals/approvals-view.js';
import { AuditView } from '../views/audit/audit-view.js';
import { ConfigView } from '../views/config/config-view.js';
import { HeldView } from '../views/held/held-view.js';
import { HomeView } from '../views/home/home-view.js';
import { RulesView } from '../views/rules/rules-view.js';
import { SearchView } from '../views/search/search-view.js';
import { ServersView } from '../views/servers/servers-view.js';
import { SignInView } from '../views/sign-in/sign-in-view.js';
import { SkillsView } from '../views/skills/skills-view.js';
import { ToolView } from '../views/tool/tool-view.js';
import { TrafficView } from '../views/traffic/traffic-view.js';
import { startAsks } from './asks.js';
import { followEvents } from './live.js';
import { dismissFailures } from './notices.js';
import { route, type Route } from './router.js';
import { problem, readSession, session } from './session.js';
import { Shell } from './shell.js';
import { startWaiting } from './waiting.js';
import { followPlaces } from './way-back.js';

const VIEWS: Readonly<Record<string, FunctionComponent<{ route: Route }>>> = {
  home: HomeView,
  servers: ServersView,
  search: SearchView,
  tool: ToolView,
  held: HeldView,
  traffic: TrafficView,
  approvals: ApprovalsView,
  skills: SkillsView,
  rules: RulesView,
  audit: AuditView,
  config: ConfigView,
};

function NotFound(): VNode {
  return (
    <Page title="There is no such page">
      <Empty icon="search" title="Nothing is here">
        <p>
          The address names a view that does not exist. <a href="#/home">Go to Home</a>.
        </p>
      </Empty>
    </Page>
  );
}

function SignedIn(): VNode {
  useEffect(() => {
    const stops = [followEvents(), startWaiting(), startAsks(), followPlaces()];
    return () => {
      for (const stop of stops) stop();
    };
  }, []);
  const here = route.value;
  // As soon as the view is left: later, a failure that the next view tells would go with them.
  useLayoutEffect(() => dismissFailures, [here.view, ...here.parts]);
  // Approvals stay as they are when another request is chosen: marks, scroll and focus are not lost.
  const View = Object.hasOwn(VIEWS, here.view) ? VIEWS[here.view]! : NotFound;
  return (
    <Shell>
      <View key={[here.view, ...(here.view === 'approvals' ? [] : here.parts)].join('/')} route={here} />
    </Shell>
  );
}

/** The page: the sign-in where one is needed, else the view that the address names. */
export function App(): VNode {
  const known = session.value;
  if (!known) {
    if (problem.value) {
      return (
        <div class="sign-in">
          <Failure error={problem.value} onRetry={() => void readSession()} />
        </div>
      );
    }
    return (
      <p class="boot" role="status">
        Studio asks toolscout who you are…
      </p>
    );
  }
  return known.required && !known.signedIn ? <SignInView session={known} /> : <SignedIn />;
}
