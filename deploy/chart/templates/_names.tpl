{{- /* What everything is called, and how it is found. */ -}}

{{- define "posse.labels" -}}
app.kubernetes.io/name: posse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "posse.priorityClass" -}}
{{- .Values.priorityClass.name | default (ternary .Release.Name "" .Values.priorityClass.create) -}}
{{- end -}}
