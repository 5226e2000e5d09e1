// All that lib/*.d.ts declares is in lib/*.js, and nothing public of lib/*.js is missing in lib/*.d.ts (types.sh).

import type * as dashboardFound from "../found/dashboard.js";
import type * as nodeFound from "../found/node.js";
import type * as dashboard from "../lib/dashboard.js";
import type * as node from "../lib/node.js";

// Inherited has the members that the compiler does not find in the modules: methods named by symbols, and the members
// of EventTarget, to which the declarations add the events.
type Inherited = { [Symbol.asyncIterator]: any; addEventListener: any };

// The value that was found can be used as the declared type.
export const used = (found: {
  client: nodeFound.PlayerClient & Inherited; session: nodeFound.Session & Inherited; simulation: nodeFound.Simulation;
  error: nodeFound.PlayerError; gotoError: nodeFound.GotoError; goto: nodeFound.Goto; event: nodeFound.PlayerEvent;
  page: dashboardFound.DashboardClient & Inherited;
}): {
  client: node.PlayerClient; session: node.Session; simulation: node.Simulation;
  error: Omit<node.PlayerError, "kind">; gotoError: Omit<node.GotoError, "kind">; goto: node.Goto; event: node.PlayerEvent;
  page: dashboard.DashboardClient;
} => found;

// Hidden are members of classes that are for the library itself.
type Hidden = "blocks" | "clearData" | "indexes" | "letterOf" | "take" | "wants";
type Undeclared<Declared, Found> = Exclude<keyof Found, keyof Declared | Hidden>;

// Nothing else was found, and all that is exported.
export const undeclared = (
  name: Undeclared<node.PlayerClient, nodeFound.PlayerClient> | Undeclared<node.Session, nodeFound.Session>
    | Undeclared<node.Simulation, nodeFound.Simulation> | Undeclared<dashboard.DashboardClient, dashboardFound.DashboardClient>
    | Undeclared<node.Goto, nodeFound.Goto> | Undeclared<node.GotoError, nodeFound.GotoError>
    | Exclude<keyof typeof nodeFound, keyof typeof node> | Exclude<keyof typeof node, keyof typeof nodeFound>
    | Exclude<keyof typeof dashboardFound, keyof typeof dashboard> | Exclude<keyof typeof dashboard, keyof typeof dashboardFound>,
): never => name;
