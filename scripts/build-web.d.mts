export declare function ensureWebBuilt(): Promise<void>
