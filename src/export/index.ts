export { EXPORT_FORMATS, exportText, rtfsFiles, writeRtfs, type ExportFormat, type Written } from './export.js';
export { fileNameOf, toolFileOf } from './file-name.js';
export { toolSignature, toolToManifest, type ExportedServer, type ToolSignature } from './manifest.js';
export { readRtfs } from './rtfs/read-rtfs.js';
export { sectionOf, type ExportedTool, type Section } from './section.js';
export { toolDeclaration } from './typescript.js';
export { readPlainFile, writeExportFile } from './write-file.js';
export { capabilityText, rtfsFile, type RtfsDialect } from './rtfs/write-rtfs.js';
